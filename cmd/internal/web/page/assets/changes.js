'use strict';
// One stream of changes for all tabs of a project: a browser opens six connections to a server, and
// a stream in each tab would take them all. Its name is the address of the stream.
const tabs = new Set();
let source = null, away = false;

const tell = kind => { for (const tab of tabs) tab.postMessage(kind); };

function open() {
  source = new EventSource(self.name);
  for (const kind of ['message', 'fact', 'agent', 'task', 'missed']) source.addEventListener(kind, () => tell('changed'));
  source.onopen = () => { tell(away ? 'changed' : 'here'); away = false; };
  source.onerror = () => {
    away = true;
    tell('away');
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    source = null;
    setTimeout(() => { if (tabs.size && !source) open(); }, 5000);
  };
}

self.onconnect = e => {
  const tab = e.ports[0];
  tabs.add(tab);
  tab.onmessage = () => { // it leaves
    tabs.delete(tab);
    if (!tabs.size) { source?.close(); source = null; }
  };
  if (!source) open();
  else if (away) tab.postMessage('away');
};
