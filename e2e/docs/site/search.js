/* The search of the documentation, and buttons that copy code. The pages work without this script. */
const TOP = new URL('.', document.currentScript.src);
const MOST = 20;
const input = document.querySelector('#search');
const list = document.querySelector('#results');
const status = document.querySelector('search [role=status]');

/** The sections of all pages, loaded when a reader begins to search. */
let loading;
const sections = () => (loading ??= load());

async function load() {
  const response = await fetch(new URL('search.json', TOP));
  const pages = await response.json();
  return pages.flatMap(({ url, title, sections: parts }) =>
    parts.map(({ heading, anchor, text }, index) => ({
      // The first heading is the title, and its address the page's.
      href: new URL(index === 0 ? url : `${url}#${anchor}`, TOP).href,
      title,
      heading: index === 0 ? '' : heading,
      text,
      // The changelog has words of every page, and explains none of them.
      weight: url.startsWith('CHANGELOG') ? 0.05 : 1,
      lower: {
        title: title.toLowerCase(),
        heading: heading.toLowerCase(),
        text: text.toLowerCase(),
      },
    })),
  );
}

const plain = (word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/**
 * Returns the function that ranks a section for one word. A heading counts more than the text, and a whole word more
 * than the beginning or the inside of a longer word.
 */
function ranking(word) {
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])${plain(word)}(?![\\p{L}\\p{N}])`, 'u');
  const beginning = new RegExp(`(?<![\\p{L}\\p{N}])${plain(word)}`, 'u');
  const rankIn = (where) => {
    if (!where.includes(word)) return 0;
    if (whole.test(where)) return 6;
    return beginning.test(where) ? 2 : 1;
  };
  return ({ title, heading, text }) => 8 * rankIn(heading) + 4 * rankIn(title) + rankIn(text);
}

function found(all, words) {
  if (words.length === 0) return [];
  const rankings = words.map(ranking);
  const ranked = all.map((section) => {
    const ranks = rankings.map((rankOf) => rankOf(section.lower));
    const sum = ranks.reduce((total, rank) => total + rank);
    return { section, rank: ranks.includes(0) ? 0 : sum * section.weight };
  });
  return ranked
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ section }) => section);
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

/** The text around the first word, with each word marked. */
function excerpt({ text, lower }, words) {
  const first = Math.min(...words.map((word) => lower.text.indexOf(word)).filter((at) => at >= 0));
  const near = Number.isFinite(first) ? Math.max(0, first - 40) : 0;
  const from = near === 0 ? 0 : text.indexOf(' ', near) + 1;
  const part = text.slice(from, from + 140).replace(/\S*$/, '');
  const line = element('small', from > 0 ? '…' : '');
  const pattern = words.map(plain).join('|');
  for (const [index, piece] of part.split(new RegExp(`(${pattern})`, 'i')).entries())
    line.append(index % 2 === 1 ? element('mark', piece) : piece);
  return line;
}

async function show() {
  const query = input.value;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const results = found(await sections(), words);
  if (query !== input.value) return;
  list.replaceChildren(
    ...results.slice(0, MOST).map((result) => {
      const link = element('a', '', { href: result.href });
      const place = result.heading === '' ? result.title : `${result.title}: ${result.heading}`;
      link.append(element('strong', place), excerpt(result, words));
      const item = element('li', '');
      item.append(link);
      return item;
    }),
  );
  list.hidden = results.length === 0;
  const several = results.length > MOST ? `, of which ${MOST} are shown` : '';
  const told = `${results.length} ${results.length === 1 ? 'result' : 'results'}${several}`;
  status.textContent = query.trim() === '' ? '' : told;
  status.classList.toggle('hidden', query.trim() === '' || results.length > 0);
}

function close() {
  list.hidden = true;
  status.textContent = '';
  status.classList.add('hidden');
}

input.closest('search').hidden = false;
input.addEventListener('input', () => void show());
input.addEventListener('focus', () => {
  if (input.value !== '') void show();
});
document.addEventListener('click', ({ target }) => {
  if (!target.closest('search')) close();
});
document.addEventListener('keydown', (event) => {
  const inSearch = event.target.closest('search') !== null;
  if (event.key === '/' && !inSearch && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.select();
  } else if (inSearch) {
    move(event);
  }
});

/** The list of pages shows the page that is open. */
const current = document.querySelector('nav [aria-current]');
if (current !== null) current.closest('nav').scrollTop = current.offsetTop - 200;

/** Arrows go from the field to the results and back, Enter opens the first result, Escape closes the list. */
function move(event) {
  const stops = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    input.focus();
    close();
  } else if (event.key === 'Enter' && at === 0) {
    stops[1]?.click();
  } else if (step !== undefined && !list.hidden) {
    event.preventDefault();
    stops[(at + step + stops.length) % stops.length].focus();
  }
}

for (const block of navigator.clipboard === undefined ? [] : document.querySelectorAll('pre')) {
  const button = element('button', 'Copy', { type: 'button' });
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
  });
  const frame = element('div', '', { class: 'copyable' });
  block.replaceWith(frame);
  frame.append(block, button);
}
