// Opens the page in Chromium as a person would, and prints what is wrong, a line each.
// node browser.mjs URL CHROMIUM PICTURES LEAN-CTX
import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:http';
import {chromium} from 'playwright-core';

const [base, executablePath, pictures, program] = process.argv.slice(2);
const wrong = (...words) => console.log(words.join(' '));
const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const views = ['/', '/?room=architecture', '/facts/architecture/auth', '/facts/architecture/database', '/activity', '/doubts', '/agents', '/briefings', '/health', '/?as_of=2026-06-01', '/?q=how+do+users+sign+in', '/facts/hostile/value', '/nowhere'];

async function open(options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(300_000); // a busy machine may take long
  await context.addInitScript(() => addEventListener('securitypolicyviolation', e => console.error('CSP', e.violatedDirective, e.blockedURI)));
  const page = await context.newPage();
  page.on('console', m => { if (m.type() === 'error' && !/404|ERR_FAILED/.test(m.text())) wrong('console:', page.url(), m.text()); });
  page.on('pageerror', e => wrong('script:', page.url(), e.message));
  page.on('dialog', d => { wrong('a value ran as a script:', page.url()); d.dismiss(); });
  return page;
}

// low gives the texts whose colour is too near to what is behind them.
function low() {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4).reduce((s, x, i) => s + x * [.2126, .7152, .0722][i], 0);
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    let at = e, behind = [];
    while (at && (behind = parse(getComputedStyle(at).backgroundColor), behind.length === 4 && behind[3] === 0)) at = at.parentElement;
    if (!at) behind = parse(getComputedStyle(document.documentElement).backgroundColor);
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind)].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) found.push(`${e.tagName} ${e.className} "${e.textContent.trim().slice(0, 30)}" ${((a + .05) / (b + .05)).toFixed(1)}`);
  }
  return found.slice(0, 5);
}

for (const [width, height] of [[1280, 900], [360, 740]]) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open({viewport: {width, height}, colorScheme});
    for (const view of views) {
      await page.goto(base + view);
      await page.waitForSelector('main h1, main h2');
      if (view === '/doubts' || view === '/health') await page.waitForSelector('#found:not([data-load])');
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) wrong('wider than the screen:', view, width, over);
      for (const text of await page.evaluate(low)) wrong('contrast:', view, colorScheme, text);
      if (pictures) await page.screenshot({path: `${pictures}/${view.replace(/[^a-z0-9]+/gi, '_').replace(/^_|_$/g, '') || 'facts'}-${width}-${colorScheme}.png`});
    }
    await page.context().close();
  }
}

const check = async (what, f) => { try { await f(); } catch (e) { wrong(what + ':', e.message.split('\n')[0]); } };
const page = await open({viewport: {width: 1280, height: 900}});
await check('search as you type', async () => {
  await page.goto(base + '/');
  await page.keyboard.press('/');
  await page.keyboard.type('postgres', {delay: 20});
  await page.waitForSelector('#list-h:has-text("What matches") >> visible=true');
  await page.waitForSelector('.rows a:has-text("database")');
  if (!page.url().includes('q=postgres')) throw new Error('the address is ' + page.url());
});
await check('search for the past', async () => {
  await page.goto(base + '/');
  await page.keyboard.press('/');
  await page.keyboard.type('what did we use for auth before OAuth2', {delay: 20});
  await page.waitForSelector('main :text("read from the question") >> visible=true');
  await page.waitForSelector('.rows li:has-text("JWT RS256"):has-text("true 2026-03-16 to 2026-09-20") >> visible=true');
  if (pictures) await page.screenshot({path: `${pictures}/past.png`});
  await page.keyboard.press('Escape');
});
await check('keys', async () => {
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/facts/**');
  await page.keyboard.press('3');
  await page.waitForURL('**/doubts');
});
await check('slider', async () => {
  await page.goto(base + '/facts/architecture/auth');
  await page.locator('#slider').evaluate(e => { e.value = Date.parse('2026-06-01') / 86400000; e.dispatchEvent(new Event('input')); });
  await page.waitForSelector('html.past');
  await page.waitForSelector('pre.value:has-text("JWT RS256")');
  await page.waitForSelector('.timeline.wide .tl-asof', {state: 'attached'});
  await page.locator('nav a[data-key="1"]').click();
  await page.waitForSelector('.then:has-text("1 June 2026")');
  await page.keyboard.press('n');
  await page.waitForFunction(() => !document.documentElement.classList.contains('past'));
});
await check('timeline by keyboard', async () => {
  await page.goto(base + '/facts/architecture/auth');
  await page.locator('.timeline.wide a.tl-bar').first().focus();
  await page.waitForSelector('.timeline.wide .tl-bar:focus .tl-detail >> visible=true');
});
await check('accept a dispute', async () => {
  await page.goto(base + '/doubts');
  const one = page.locator('article.doubt', {hasText: 'dependency/node'});
  await one.getByRole('button', {name: 'Accept this'}).click();
  await page.waitForSelector('.outcome.done:has-text("Judged")');
  await page.goto(base + '/facts/dependency/node');
  await page.waitForSelector('pre.value:has-text("22 LTS")');
});
await check('duplicates', async () => {
  await page.goto(base + '/doubts');
  await page.getByRole('button', {name: 'Keep both'}).first().click();
  await page.waitForSelector('.outcome.done:has-text("compatible")');
});
await check('live', async () => {
  await page.goto(base + '/agents');
  await page.waitForTimeout(1000);
  execFileSync(program, ['agent', 'register', 'gemini', '--role', 'live test']);
  await page.waitForSelector('#who :text("live test")', {timeout: 8000});
});
await check('ten tabs share one stream', async () => {
  const tabs = [];
  for (let i = 0; i < 10; i++) {
    tabs.push(await page.context().newPage());
    await tabs[i].goto(base + '/agents', {timeout: 20_000});
    await tabs[i].waitForTimeout(300); // its stream is open
  }
  await tabs[9].locator('#q').fill('postgres');
  await tabs[9].waitForSelector('#list-h:has-text("What matches")', {timeout: 20_000});
  execFileSync(program, ['agent', 'register', 'gemini', '--role', 'seen in all tabs']);
  for (const tab of tabs.slice(0, 9)) await tab.waitForSelector('#who :text("seen in all tabs")', {timeout: 20_000});
  for (const tab of tabs) await tab.close();
});
await check('Back leaves a search and a move in time', async () => {
  await page.goto(base + '/doubts');
  await page.locator('#q').pressSequentially('postgres', {delay: 20});
  await page.waitForSelector('#list-h:has-text("What matches") >> visible=true');
  await page.goBack();
  await page.waitForSelector('h1:has-text("Doubts")');
  if (await page.locator('#q').inputValue()) throw new Error('the field still holds the words');
  await page.goto(base + '/facts/architecture/auth');
  for (const day of ['2026-06-03', '2026-06-01']) {
    await page.locator('#slider').evaluate((e, day) => { e.value = Date.parse(day) / 86400000; e.dispatchEvent(new Event('input')); }, day);
    await page.waitForSelector(`.then:has-text("${day === '2026-06-01' ? '1 June' : '3 June'}")`);
  }
  await page.goBack();
  await page.waitForFunction(() => !document.documentElement.classList.contains('past'));
});
await check('Enter opens the first hit, Escape empties the search', async () => {
  await page.goto(base + '/');
  await page.locator('#q').fill('postgres');
  await page.waitForSelector('#list-h:has-text("What matches")');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#list-h:has-text("Latest facts")');
  await page.locator('#q').fill('postgres');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/facts/**');
});
await check('settling keeps the place', async () => {
  await page.goto(base + '/doubts?look=1');
  const button = page.getByRole('button', {name: 'Keep both'}).nth(1);
  await button.scrollIntoViewIfNeeded();
  const top = await page.evaluate(() => scrollY);
  await button.click();
  await page.waitForSelector('.outcome.done:has-text("compatible")');
  const now = await page.evaluate(() => [scrollY, document.activeElement?.tagName]);
  if (Math.abs(now[0] - top) > 200 || now[1] === 'BODY') throw new Error(`scrolled from ${top} to ${now}`);
});
await check('what is read does not move', async () => {
  await page.goto(base + '/');
  await page.evaluate(() => scrollTo(0, 600));
  await page.waitForTimeout(1000);
  const seen = await page.locator('.rows li').nth(12).textContent();
  execFileSync(program, ['remember', 'something new', '--category', 'team', '--key', 'news']);
  await page.waitForSelector('.news', {timeout: 20_000});
  if (await page.locator('.rows li').nth(12).textContent() !== seen) throw new Error('the rows moved');
  await page.locator('.news').click();
  await page.waitForSelector('.rows a:has-text("news")');
});
await check('a fact that changed meanwhile', async () => {
  await page.goto(base + '/facts/team/news');
  await page.locator('#change summary').click();
  await page.locator('#change textarea').fill('mine');
  execFileSync(program, ['remember', 'theirs', '--category', 'team', '--key', 'news']);
  await page.locator('#change button').click();
  await page.waitForSelector('.outcome.failed:has-text("theirs")');
});
await check('change', async () => {
  await page.goto(base + '/facts/team/owner-auth');
  await page.locator('#change summary').click();
  await page.locator('#change textarea').fill('Anna <b>&</b> Jonas');
  await page.locator('#change button').click();
  await page.waitForSelector('pre.value:has-text("Anna <b>&</b> Jonas")');
});
await check('remove with a reason, by keyboard', async () => {
  await page.goto(base + '/facts/team/owner-auth');
  await page.locator('#remove summary').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('left the <i>team</i>');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.outcome.done:has-text("Removed")');
  await page.waitForSelector('.why :text("left the <i>team</i>")');
});
await check('a server that is away', async () => {
  await page.goto(base + '/');
  await page.route('**/*', route => route.abort());
  await page.locator('#q').fill('postgres');
  await page.waitForSelector('body[data-away]');
  await page.unroute('**/*');
  await page.locator('#q').fill('postgresq');
  await page.waitForSelector('body:not([data-away])');
});
const plain = await open({viewport: {width: 360, height: 740}, javaScriptEnabled: false});
await check('without JavaScript', async () => {
  await plain.goto(base + '/');
  await plain.locator('#q').fill('postgres');
  await plain.getByRole('button', {name: 'Search'}).click();
  await plain.waitForSelector('.rows a:has-text("database")');
  await plain.goto(base + '/doubts');
  await plain.locator('article.doubt', {hasText: 'security/passwords'}).getByRole('button', {name: 'Keep this'}).click();
  await plain.waitForSelector('.outcome.done:has-text("Judged")');
  await plain.locator('#found a').click();
  await plain.waitForSelector('#found h2, #found p');
  await plain.locator('#as_of').fill('2026-06-01');
  await plain.getByRole('button', {name: 'Show'}).click();
  await plain.waitForSelector('.then');
});

// First paint, each time in a fresh context, in turn with a bare page of a bare server:
// that is what the browser and the machine take. A fresh context is a new window, whose own
// parts Chromium loads for a second; a page is opened in one that is there.
const bare = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<!doctype html><title>bare</title><p>bare')).listen(0, '127.0.0.1');
await once(bare, 'listening');
const paints = {bare: [], page: []};
for (let i = 0; i < 7; i++) {
  for (const [name, url] of [['bare', `http://127.0.0.1:${bare.address().port}/`], ['page', base + '/']]) {
    const fresh = await open({viewport: {width: 1280, height: 900}});
    await fresh.waitForTimeout(1500);
    await fresh.goto(url);
    const at = await fresh.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    paints[name].push(await at.jsonValue());
    await fresh.context().close();
  }
}
bare.close();
for (const name in paints) paints[name].sort((a, b) => a - b);
const text = name => paints[name].map(x => x.toFixed(0)).join(' ');
console.error(`first paint in ms: ${text('page')}, of a bare page: ${text('bare')}`);
if (paints.page[3] - paints.bare[3] > 200) wrong('first paint, the median of 7:', text('page'), 'ms, of a bare page:', text('bare'));
await browser.close();
