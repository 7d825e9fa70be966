import annnet, datetime as dt, shutil, subprocess, json
from annnet import AnnNet
G=AnnNet(directed=True)
G.layers.set_aspects(['cond','time'],{'cond':['a','b'],'time':['t1','t2']})
G.add_nodes(['A','B','C'],layer=('a','t1'))
G.add_nodes(['A','B'],layer=('b','t2'))
G.add_nodes('X')
G.add_edges(('A',('a','t1')),('B',('b','t2')),edge_id='e1',weight=0.5)
G.add_edges([{'edge_id':'h1','members':[('A',('a','t1')),('B',('a','t1'))],'foo':1}])
G.add_edges([{'edge_id':'h2','head':[('A',('a','t1'))],'tail':[('B',('a','t1'))],'weight':3.0}])
G.add_edges([{'edge_id':'ee'}],as_entity=True)
try:
    G.add_edges(('A',('a','t1')),'ee',edge_id='e2')
except Exception as e: print('EE',repr(e))
print(annnet.core._attribute_api.ADDRESSES)
for addr,up in [('nodes',{'A':{'x':1,'d':dt.date(2020,1,1),'l':[1,2],'n':None,'dd':{'k':1}}}),('edges',{'e1':{'y':2.5}}),('slices',{'default':{'q':'z'}}),('node_layers',{('A',('a','t1')):{'v':1,'d':[1,{'z':None}]}}),('graph',{'title':'x'}),('layers',{('a','t1'):{'v':2}}),('aspects',{'cond':{'u':1}}),('elementary_layers',{('cond','a'):{'u':'s'}})]:
    try: print(addr,G.attrs.update(addr,up))
    except Exception as e: print('ERR',addr,repr(e)[:300])
G.slices.add('s1',q=1) if True else 0
G.slices.add_edges('s1',['e1','h1'])
G.slices.add_nodes('s1',[('A',('a','t1'))])
try: print(G.attrs.update('edge_slices',{('s1','e1'):{'weight':7.0,'why':'u'}}))
except Exception as e: print('ERR',repr(e))
G.history.mark('m'); G.history.snapshot('snap')
G.uns['k']={'d':dt.date(2020,1,1),'l':[None,1.5,float('nan')]}
try: G.set_edge_coeffs('h1',{('A',('a','t1')):2.0,('B',('a','t1')):-1.0})
except Exception as e: print('coef',repr(e))
shutil.rmtree('t/g1',ignore_errors=True)
G.write('t/g1')
