/** A module as text; `asks`: it sends requests to its own origin. */
export interface PageScript {
  readonly text: string;
  readonly asks?: true;
}

/** Copies the text of the element before a button. Where the browser has no clipboard, as over http, it selects the text. */
const COPY = `
for (const button of document.querySelectorAll('button[data-copied]')) {
  const [label] = button.childNodes;
  const before = label.data;
  const say = (text) => {
    label.data = text;
    setTimeout(() => {
      label.data = before;
    }, 3000);
  };
  const select = (shown) => {
    const range = document.createRange();
    range.selectNodeContents(shown);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    say(button.dataset.selected);
  };
  button.hidden = false;
  button.addEventListener('click', async () => {
    const shown = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(shown.textContent);
      say(button.dataset.copied);
    } catch {
      select(shown);
    }
  });
}`;

/** Shows each moment in the time zone of the reader; without script a moment is in UTC. */
const LOCAL_TIMES = `
{
  const { lang } = document.documentElement;
  const formats = {
    long: { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
    short: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  };
  for (const time of document.querySelectorAll('time[data-shown]')) {
    const format = new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, formats[time.dataset.shown]);
    time.title = time.dateTime;
    time.textContent = format.format(new Date(time.dateTime));
  }
}`;

/** The scripts of parts that any page may have, by an attribute that each such part has. No text makes one: quotes are escaped. */
const PARTS: readonly (readonly [mark: string, text: string])[] = [
  ['data-copied="', COPY],
  ['data-shown="', LOCAL_TIMES],
];

/** Joins the script of a page with those of its parts. Undefined: the page needs none. `content`: the page as text. */
export function scriptOf(content: string, own?: PageScript): PageScript | undefined {
  const parts = PARTS.filter(([mark]) => content.includes(mark)).map(([, text]) => text);
  if (parts.length === 0) return own;
  return { ...own, text: [own?.text ?? '', ...parts].join('') };
}
