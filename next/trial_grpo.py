"""args model out steps groups size lr micro share temp"""
import sys,time,collections,torch,shutil,random
torch.set_num_threads(1)
from pathlib import Path
from kit.experiments import visual_arft as V
from kit.policy.hf import HFPolicy
from kit.evaluate.visual_arft import evaluate, failures, outcomes
from kit.rewards.visual_arft import score, Rule
from kit.grpo import GRPOSettings, train_grpo
from kit.store import load_tasks, load_episodes
from kit.sandbox import Sandbox
model,out,steps,groups,size,lr,micro,share,temp=sys.argv[1],sys.argv[2],int(sys.argv[3]),int(sys.argv[4]),int(sys.argv[5]),float(sys.argv[6]),int(sys.argv[7]),float(sys.argv[8]),float(sys.argv[9])
D=Path('/tmp/x/data288')
m,chat=V.load(model); pol=HFPolicy(m,chat)
k=4; ix=V.search_engine()
play=V.Play(prompt='brief',turns=5,k=k,snippet_chars=80,max_new_tokens=60)
box=Sandbox(allow_unsafe=True).start(); tools=V.Tools(box,ix)
sheets=load_tasks(D/'coding-train.jsonl'); qs=load_tasks(D/'search-train.jsonl')
qs+= [e.task for e in load_episodes(D/'coldstart.jsonl') if 'queries' in e.task.meta]
random.Random(0).shuffle(qs)
n=steps*groups; s_=round(share*n)
mix=[sheets[i%len(sheets)] for i in range(n-s_)]+[qs[i%len(qs)] for i in range(s_)]
rule=Rule(answer='f1')
t0=time.time()
def cb(rows):
    r=rows[-1]; print(r['step'],round(time.time()-t0),{a:round(r[a],3) for a in ('reward','accuracy','turns','response_tokens','entropy','flat_groups','rollout_seconds','model_share','reward_std') if a in r},flush=True)
shutil.rmtree(out,ignore_errors=True)
train_grpo(m,chat,mix,lambda tasks,*,seed: play(pol,chat,tools,tasks,temp,seed),lambda e,t: score(e,t,rule),GRPOSettings(steps=steps,groups=groups,group_size=size,micro_batch=micro,learning_rate=lr,schedule='cosine',temperature=temp,beta=0.0,freeze_vision=True,lora_rank=0,save_every=1000,seed=0),Path(out),model_seconds=lambda: pol.seconds,on_step=cb)
print('grpo',time.time()-t0)
test=[x for nm in ('coding-test','search-test','text-test') for x in load_tasks(D/f'{nm}.jsonl')[:100]]
r=V.play_greedily(m,chat,tools,test,play)
for kk,v in evaluate(r).items():
    if kk.startswith(('f1','em','un','tools')): print(kk,v)
print(failures(r))
c=collections.defaultdict(list)
for o in outcomes(r):
    if o.setting=='coding': c[o.category].append((o.em,o.undone))
for kk,v in c.items(): print(kk,sum(a for a,_ in v),'/',len(v),[u for _,u in v])
for e in [e for e in r if e.task.images and 'queries' in e.task.meta][:12]+r[-4:]+r[:10]:
    print('---',e.task.question,e.task.target,e.task.meta.get('says'),e.task.meta.get('queries',[''])[0],e.task.meta.get('distortions'),e.task.meta.get('reading'))
    for tn in e.turns: print('    ',tn.text.replace('\n',' ; '),'=>', (tn.observation.text[:250].replace('\n',' | ') if tn.observation else ''))
