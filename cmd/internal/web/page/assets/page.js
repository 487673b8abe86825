'use strict';
// Search as you type, live parts, the as-of slider and keys. Without this file the page
// works by links and forms.
(() => {
  const $ = (s, at = document) => at.querySelector(s);

  // load fetches an address and puts its parts in the place of ours. A later call ends an
  // earlier one.
  let current = null;
  async function load(url, swap, options) {
    current?.abort();
    const mine = current = new AbortController();
    try {
      const answer = await fetch(url, {signal: mine.signal, headers: {Accept: 'text/html'}, ...options});
      delete document.body.dataset.away;
      if (!(answer.headers.get('Content-Type') || '').startsWith('text/html')) return;
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (!mine.signal.aborted) swap(next, answer.url);
    } catch (e) {
      if (e.name !== 'AbortError') document.body.dataset.away = 'true';
    } finally {
      if (current === mine) current = null;
    }
  }

  // whole shows another address in this page; what is typed into the heading stays.
  function whole(next) {
    document.documentElement.className = next.documentElement.className;
    document.title = next.title;
    $('main').replaceWith(next.querySelector('main'));
    $('body > nav ul').replaceWith(next.querySelector('body > nav ul'));
    for (const s of ['.outcome', '.brings', '.then']) { // each comes before the former
      $(s)?.remove();
      const found = next.querySelector(s);
      if (found) $('header').after(found);
    }
    document.body.dataset.events = next.body.dataset.events;
    const asOf = next.querySelector('.asof');
    if (asOf && !$('.asof').contains(document.activeElement)) $('.asof').replaceWith(asOf);
    else if (asOf) $('.asof').action = asOf.getAttribute('action');
    const hidden = next.querySelector('.search [name=as_of]');
    $('.search [name=as_of]')?.remove();
    if (hidden) $('.search').append(hidden);
    bindAsOf();
    listen();
    look();
    visit();
  }

  // look brings in what takes long to find, once the page is there.
  async function look() {
    const part = $('[data-load]');
    const link = part?.querySelector('a');
    if (!link) return;
    part.setAttribute('aria-busy', 'true');
    link.replaceWith(part.dataset.load);
    const answer = await fetch(link.href).catch(() => null);
    const found = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('found');
    if (found && part.isConnected) part.replaceWith(found);
    else part.replaceChildren('That could not be loaded. ', link);
  }

  // go shows the address. The first step of a search, or of a move in time, is one to come back from.
  function go(url, kind) {
    if (history.state?.kind === kind) history.replaceState({kind}, '', url);
    else history.pushState({kind}, '', url);
    return load(url, whole);
  }
  addEventListener('popstate', () => load(location.href, next => {
    whole(next);
    q.value = next.getElementById('q').value;
    const asOf = next.querySelector('.asof');
    if (asOf) { $('.asof').replaceWith(asOf); bindAsOf(); }
  }));

  function address(form, extra) {
    const u = new URL(form.action);
    for (const [k, v] of new FormData(form)) if (v !== '') u.searchParams.set(k, v);
    for (const [k, v] of Object.entries(extra || {})) v ? u.searchParams.set(k, v) : u.searchParams.delete(k);
    return u;
  }

  let waiting = 0;
  function soon(f, ms) {
    clearTimeout(waiting);
    waiting = setTimeout(f, ms);
  }

  const q = $('#q');
  const search = () => go(address(q.form, {q: q.value}), 'search');
  q.addEventListener('input', () => soon(search, 120));
  q.form.addEventListener('submit', e => { // opens the first hit
    e.preventDefault();
    soon(async () => { await search(); if (q.value) $('#list .rows a.name')?.click(); }, 0);
  });

  // A button leaves the reader where they were: at what they settled, or at what comes after it.
  const items = () => [...document.querySelectorAll('article.doubt, .rows > li')];
  document.addEventListener('submit', e => {
    const form = e.target;
    if (form.method !== 'post') return;
    e.preventDefault();
    const at = items().findIndex(i => i.contains(form)), id = at < 0 ? '' : items()[at].id, top = scrollY, here = location.pathname;
    load(form.action, (next, url) => {
      history.replaceState(history.state, '', url);
      whole(next);
      if (location.pathname !== here) return;
      scrollTo(0, top);
      const item = (id && document.getElementById(id)) || (at >= 0 && items()[Math.min(at, items().length - 1)]) || $('#main');
      (item.querySelector('button, a') || item).focus({preventScroll: at < 0});
    }, {method: 'POST', body: new URLSearchParams(new FormData(form))});
  });

  // The slider and the date say the same; a move of either moves the whole page.
  function bindAsOf() {
    const slider = $('#slider'), date = $('#as_of'), form = date.form;
    const move = ms => soon(() => {
      const u = new URL(location.href);
      u.searchParams.delete('outcome');
      u.searchParams.delete('page');
      if (date.value && Number(slider.value) < Number(slider.max)) u.searchParams.set('as_of', date.value);
      else u.searchParams.delete('as_of');
      go(u, 'as of');
    }, ms);
    slider.oninput = () => {
      date.value = new Date(slider.value * 86400000).toISOString().slice(0, 10);
      move(80);
    };
    date.onchange = () => form.requestSubmit();
    form.onsubmit = e => {
      e.preventDefault();
      if (!date.value) date.value = new Date(slider.max * 86400000).toISOString().slice(0, 10);
      const day = Date.parse(date.value) / 86400000;
      if (!(day <= Number(slider.max))) { // to come: the slider ends today
        const u = new URL(location.href);
        u.searchParams.set('as_of', date.value);
        location.href = u;
        return;
      }
      slider.value = day;
      move(0);
    };
  }
  bindAsOf();

  // Live parts are loaded again when something changed, unless somebody is at work in them. All tabs
  // share one stream; where a browser cannot do that, a tab that is not seen has none.
  let feed = null;
  function listen() {
    const at = document.body.dataset.events;
    if (feed && feed.at === at) return;
    feed?.end();
    feed = null;
    if (at) feed = window.SharedWorker ? shared(at) : alone(at);
  }
  function heard(kind) {
    if (kind === 'away') { document.body.dataset.away = 'true'; return; }
    delete document.body.dataset.away;
    // A stream that opens late may have missed what happened since the page was made.
    if (kind === 'changed' || kind === 'here' && performance.now() > 1000) refreshSoon();
  }
  function shared(at) {
    const worker = new SharedWorker(new URL('changes.js', $('script[src$="page.js"]').src), {name: new URL(at, location.href).href});
    worker.port.onmessage = e => heard(e.data);
    return {at, end: () => worker.port.postMessage('leave')};
  }
  function alone(at) {
    let source = null;
    const open = () => {
      if (document.hidden || source) return;
      source = new EventSource(at);
      for (const kind of ['message', 'fact', 'agent', 'task', 'missed']) source.addEventListener(kind, () => heard('changed'));
      source.onopen = () => heard('here');
      source.onerror = () => heard('away');
    };
    const close = () => { source?.close(); source = null; };
    const turn = () => { if (document.hidden) close(); else { open(); refreshSoon(); } };
    document.addEventListener('visibilitychange', turn);
    open();
    return {at, end: () => { document.removeEventListener('visibilitychange', turn); close(); }};
  }
  addEventListener('pagehide', () => { feed?.end(); feed = null; });
  addEventListener('pageshow', e => { if (e.persisted) { listen(); refreshSoon(); } });
  let later = 0;
  const refreshSoon = () => { clearTimeout(later); later = setTimeout(refresh, 150); };
  function refresh() {
    if (current) { refreshSoon(); return; } // what a person asked for comes first
    load(location.href, next => {
      for (const part of document.querySelectorAll('[data-live]')) {
        const fresh = next.getElementById(part.id);
        const busy = part.contains(document.activeElement) && document.activeElement.matches('input,textarea,select');
        if (!fresh || busy || fresh.innerHTML === part.innerHTML) continue;
        if (part.getBoundingClientRect().top < 0 && !part.dataset.show) { // it is being read: nothing moves
          told(part);
          continue;
        }
        delete part.dataset.show;
        const had = new Map([...part.querySelectorAll('li[id],article[id]')].map(e => [e.id, e.innerHTML]));
        const focused = document.activeElement?.closest('li[id],article[id]')?.id;
        part.innerHTML = '';
        part.append(...fresh.childNodes);
        for (const e of part.querySelectorAll('li[id],article[id]')) if (had.get(e.id) !== e.innerHTML) e.classList.add('changed');
        if (focused) document.getElementById(focused)?.querySelector('a,button')?.focus();
      }
      const nav = next.querySelector('body > nav ul');
      if (nav && nav.innerHTML !== $('body > nav ul').innerHTML) $('body > nav ul').innerHTML = nav.innerHTML;
    });
  }
  // told offers what is new in a part above the place that is read.
  function told(part) {
    if ($('.news')) return;
    const button = Object.assign(document.createElement('button'), {className: 'news', type: 'button', textContent: 'Something changed here. Show it'});
    button.onclick = () => { button.remove(); part.dataset.show = 'true'; refresh(); };
    document.body.append(button);
  }
  // The last visit to the activity is kept in this browser alone; a visit ends half an hour after its last view.
  function visit() {
    const link = $('[data-visit]'), name = 'lean-ctx visit ' + $('.project a').getAttribute('href'), now = Date.now();
    if (!link) return;
    try {
      const kept = JSON.parse(localStorage.getItem(name)) || {};
      if (!kept.seen || now - kept.seen > 1800e3) kept.last = kept.seen || 0;
      kept.seen = now;
      localStorage.setItem(name, JSON.stringify(kept));
      if (!kept.last) { link.remove(); return; }
      const u = new URL(link.href);
      u.searchParams.set('since', new Date(kept.last).toISOString());
      link.href = u;
      if (new URL(location.href).searchParams.get('since') === u.searchParams.get('since')) link.setAttribute('aria-current', 'true');
    } catch { link.remove(); } // no storage
  }
  requestAnimationFrame(() => setTimeout(() => { listen(); look(); visit(); })); // once the page has been painted

  addEventListener('keydown', e => {
    const typing = e.target.matches('input,textarea,select');
    if (e.key === 'Escape' && typing) {
      if (e.target === q && q.value) { q.value = ''; soon(search, 0); }
      e.target.blur();
      return;
    }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    const link = $(`nav a[data-key="${CSS.escape(e.key)}"]`);
    if (e.key === '/') { e.preventDefault(); q.focus(); q.select(); }
    else if (link) link.click();
    else if (e.key === 'n') $('#now')?.click();
    else if (e.key === 'j' || e.key === 'k') {
      const rows = [...document.querySelectorAll('.rows > li, article.doubt, .tasks > li')];
      const at = rows.findIndex(r => r.contains(document.activeElement));
      const row = rows[at < 0 ? 0 : Math.min(Math.max(at + (e.key === 'j' ? 1 : -1), 0), rows.length - 1)];
      const target = row?.querySelector('a,button,summary') || row;
      if (target === row) row?.setAttribute('tabindex', '-1');
      target?.focus();
    }
  });
})();
