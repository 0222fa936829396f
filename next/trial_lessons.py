"""args base epochs lr batch out own_tries"""
import sys,time,collections,torch,shutil
torch.set_num_threads(1)
from pathlib import Path
from dataclasses import replace
from kit.experiments import visual_arft as V
from kit.data.mat_search import in_words
from kit.policy.scripted import ScriptedPolicy
from kit.policy.hf import HFPolicy
from kit.experts.visual_arft import expert, own_looks
from kit.evaluate.visual_arft import evaluate, failures, outcomes
from kit.rewards.visual_arft import score
from kit.sft import SFTSettings, train_sft
from kit.store import load_tasks, load_episodes
from kit.sandbox import Sandbox
base,epochs,lr,batch,out=sys.argv[1],float(sys.argv[2]),float(sys.argv[3]),int(sys.argv[4]),sys.argv[5]
what=sys.argv[6] if len(sys.argv)>6 else 'both'
D=Path('/tmp/x/data288')
m,chat=V.load(base); pol=HFPolicy(m,chat)
k=4; ix=V.search_engine()
play=V.Play(prompt='brief',turns=5,k=k,snippet_chars=80,max_new_tokens=60)
box=Sandbox(allow_unsafe=True).start(); tools=V.Tools(box,ix)
less=[e.task for e in load_episodes(D/'coldstart.jsonl')]
if what=='search': less=[t for t in less if 'queries' in t.meta]
flags=[t for t in less if 'queries' in t.meta]
t=time.time()
once=replace(play,turns=1); asked=[]
for a in range(0,len(flags),64): asked+=once(pol,chat,tools,flags[a:a+64],1.0,seed=a)
words=own_looks(asked,ix,k); print(len(words),'of',len(flags),'distinct flags',len({x.meta['source'] for x in flags if x.id in words}),time.time()-t)
less=[t if t.id in words or 'queries' not in t.meta else in_words(t) for t in less]
t=time.time(); eps=[]; s=ScriptedPolicy(chat,expert(words))
for a in range(0,len(less),32): eps+=play(s,chat,tools,less[a:a+32],temperature=0.0)
sound=[e for e in eps if score(e,e.task.target).total==2]
print('lessons',len(sound),len(eps),round(time.time()-t,1)); t=time.time()
shutil.rmtree(out,ignore_errors=True)
train_sft(m,chat,sound,SFTSettings(epochs=epochs,batch=batch,micro_batch=4,learning_rate=lr,freeze_vision=True,lora_rank=0,save_every=100000,seed=0),Path(out),on_step=lambda rows: rows[-1]['step']%10==0 and print(rows[-1]['step'],round(rows[-1]['loss'],3),round(time.time()-t),end=' ',flush=True))
print('sft',time.time()-t)
t=time.time()
test=[x for n in ('coding-test','search-test','text-test') for x in load_tasks(D/f'{n}.jsonl')[:60]]
if what=='search': test=[x for x in test if 'queries' in x.meta]
r=V.play_greedily(m,chat,tools,test,play)
for kk,v in evaluate(r).items():
    if kk.startswith(('f1','em','un','tools')): print(kk,v)
print(failures(r),time.time()-t)
c=collections.defaultdict(list)
for o in outcomes(r):
    if o.setting=='coding': c[o.category].append((o.em,o.undone))
for kk,v in c.items(): print(kk,sum(a for a,_ in v),'/',len(v),[u for _,u in v])
S=[e for e in r if e.task.meta.get('kind')=='flag']
def found(e,doc): return any(s.source==doc for t in e.turns if t.action and t.action.text.strip(' ?!.,') for s in ix.search(t.action.text,k))
print('flag found',sum(found(e,e.task.meta['documents'][0]) for e in S)/len(S))
for e in S[:14]+r[-8:]:
    print('---',e.task.question,e.task.target,e.task.meta.get('says'),e.task.meta.get('queries',[''])[0])
    for tn in e.turns: print('    ',tn.text.replace('\n',' ; '),'=>', (tn.observation.text[:250].replace('\n',' | ') if tn.observation else ''))
