import { copyable } from '#shared/pages/copyable.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { View } from '../frame/view.ts';
import { choiceWord, memberWord } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import { facts } from './facts.ts';
import { moment } from './times.ts';

/** Matches the names of members that are times, in milliseconds or seconds since the epoch. */
const TIME = /(?:^|_)(?:at|until|since|seen|expires|used|issue)$|^not_before$/;
/** Matches a time as ISO 8601 writes it. */
const WRITTEN = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Below it a time is in seconds: as milliseconds it would be before this software. */
const SECONDS = 1e11;
/** The last moment that a date can tell (ECMA-262 section 21.4.1.1). */
const LAST = 8.64e15;

/** The value of a member of what an operation gave, as people read it. */
export function adminValue(view: View, name: string, value: unknown): Html | string {
  const texts = textsOf(view.language).admin;
  if (value === undefined || value === null || value === '') return texts.none;
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value === 'number') {
    if (!TIME.test(name) || Math.abs(value) > LAST) return String(value);
    return moment(value > 0 && value < SECONDS ? value * 1000 : value, view);
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return texts.empty;
    const items = value.map((item: unknown) => html`<li>${adminValue(view, name, item)}</li>`);
    return html`<ul>
      ${items}
    </ul>`;
  }
  if (typeof value === 'string' && TIME.test(name) && WRITTEN.test(value)) {
    return moment(Date.parse(value), view);
  }
  if (typeof value !== 'string') return adminFacts(view, Object(value) as object);
  return name === 'state' ? (choiceWord(view.language, value) ?? value) : value;
}

/** Members that administrators take elsewhere: identifiers and secrets. */
const COPIED: ReadonlySet<string> = new Set([
  'id',
  'client_id',
  'client_secret',
  'key',
  'link',
  'fingerprint',
  'kid',
  'jti',
]);

/** The members of what an operation gave, by their names in words. */
export function adminFacts(view: View, value: object): Html {
  const { language } = view;
  return facts(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      const label = memberWord(language, name) ?? name;
      const isCopied = COPIED.has(name) && typeof member === 'string' && member !== '';
      return [
        label,
        isCopied
          ? copyable(language, html`<code>${member}</code>`, label)
          : adminValue(view, name, member),
      ];
    }),
  );
}
