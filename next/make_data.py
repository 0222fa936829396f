from pathlib import Path
import sys
from kit.experiments import visual_arft as V
from kit.data import mat_search
from kit.data.countries import Countries
from kit.store import *
from kit.sandbox import Sandbox
from kit.policy.scripted import ScriptedPolicy
from kit.experts.visual_arft import expert
from kit.chat import Chat
from kit.tiny import TINY
seed=int(sys.argv[1]); D=Path(sys.argv[2]); sheets=int(sys.argv[3])
known=Countries(); index=V.search_engine()
train,test=V.coding_sets(seed,60,.5,0)
st,held=mat_search.make_tasks(known,index,0,20,60)
less=V.lessons(known,index,held,sheets,seed)
texts=V.text_questions(known,index,40,0,held)
chat=Chat.from_pretrained(TINY); box=Sandbox(allow_unsafe=True).start(); tools=V.Tools(box,index)
play=V.Play(prompt='brief',turns=8,k=4,snippet_chars=100)
played=[]
for at in range(0,len(less),32): played+=play(ScriptedPolicy(chat,expert()),chat,tools,less[at:at+32],temperature=0.0)
for n,t in {"coding-train":train,"coding-test":test,"search-train":st,"search-test":held,"text-test":texts}.items(): save_tasks(D/f'{n}.jsonl',t); print(n,len(t))
save_episodes(D/'coldstart.jsonl',played); print(len(played), len({n for t in held for n in t.meta['countries']}), len({t.meta['source'] for t in less if 'queries' in t.meta}))
