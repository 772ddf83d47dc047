import { expect, test } from '@jest/globals';
import { ourFiles, placesOf, stumbles } from './plain-documents.ts';
import { TERMS } from './plain-terms.ts';
import { sentencesOf, wordsOf } from './prose.ts';

const words = (n: number) => `${Array.from({ length: n }, (_, i) => `w${String(i)}`).join(' ')}.`;

test.each([
  ['a headless clause', 'Who sends neither field is no browser.', 'Who asks here?'],
  ['26 words', words(26), words(25)],
  [
    'a clause without its verb',
    'The client gets the answer, and the log nothing.',
    'The log has nothing.',
  ],
  ['an auxiliary verb alone', '`export` has not: it moves people.', 'The export has no clients.'],
  [
    'a sentence without a verb',
    'For nginx 1.22 or later.',
    'This page is for nginx 1.22 or later.',
  ],
])('refuses %s', (_, refused, allowed) => {
  expect(stumbles(refused)).toHaveLength(1);
  expect(stumbles(allowed)).toEqual([]);
});

const REFUSED = `
Whoever is signed in may read. Nobody may read it. Somebody may read it. It lists those that are new. The others wait.
It makes new ones. The server takes another one. You work in a tree of one's own. It passes what else the client sends.
It lets people in. People get in with a key. It counts once. The result can be had there. The server logs the door.
It is a chore of the server. The application is told the name. The log tells of it. The client hears of it.
The star stands for a name. A process stands still. A token is good for a day. A proof is good twice. The row is gone.
The session is ended. The proxy ends TLS. A token ends with it. The header is believed. The issuer vouches for people.
The metadata speaks of it. The client knows nothing of it. The accounts take turns. A refusal is no news. The page wants attention.
It reads the feed anew. It stops amid a write. It has changed lately. The name is made up. The links work no more.
The token is of no use. It stops for want of memory. It gets 100 in the course of a day. It signs in if need be.
It ends for good. They restart in turn. The passwords come along. The link came by mail. It removes the fields and the like.
It takes nothing but the key. It gets a part of what is asked. The way back is short. It stays when an edit is none. It has a part therein.
`;

test('refuses every word of the table', () => {
  const refused = sentencesOf(REFUSED).map(({ text }) => text);
  expect(TERMS.filter(([term]) => !refused.some((text) => term.test(text)))).toEqual([]);
  expect(refused.filter((text) => !TERMS.some(([term]) => term.test(text)))).toEqual([]);
});

const ALLOWED = `
Anybody who is signed in may read. One client may have one token, and each one needs it. The other clients wait.
The parts of others are public. The server lets in-flight requests finish. It lets a name stand in a list. It counts requests.
You have had a session. Close a front door. The command tells the time. The client hears an alarm. The test stands. It has good reasons.
The session ends. The command ends with 1. The proxy ends a request. He believes me. We speak English. A client knows its key.
It takes part. It takes good care. The want is small. It is useful to turn it on. People go away. The path is a way.
Write \`nobody\` there. The page says "Whoever has it". See [how it ends](#whoever). Press *End for good*.
`;

test('allows the same words in their plain meaning', () => {
  expect(stumbles(ALLOWED)).toEqual([]);
});

test('reads no code, comment, quotation or link target as prose', () => {
  expect(
    stumbles('```sh\nnobody\n```\n\n<!-- nobody -->\n\n`a` [is](nobody.md) "nobody".'),
  ).toEqual([]);
  expect(stumbles('- first\n\n  ```sh\n  nobody\n  ```\n- Nobody reads.')).toHaveLength(1);
});

test('checks each cell of a table, where a label needs no verb', () => {
  const table = `| ${words(13)} | ${words(13)} |\n|---|---|\n| By nobody. | For all.`;
  expect(stumbles(table).map((line) => line.split(':')[0])).toEqual(['3']);
});

test('names the line of a sentence', () => {
  expect(stumbles('# Title\n\nThe first.\n\nThe second is read\nby nobody.')[0]).toMatch(
    /^5: .*nobody/,
  );
});

test.each([
  ['`a`, `b` and `c` are settings', 3],
  ['A token (RFC 9068 section 2) is a JWT', 5],
  ['The page [Settings](settings.md) has it', 5],
])('%s: counts %i words', (text, count) => {
  expect(wordsOf(sentencesOf(text)[0]?.text ?? '')).toBe(count);
});

test('all documents follow the rules, except the page that quotes forbidden phrases', () => {
  const files = ['docs/a/b.md', 'README.md', 'shared/x/README.md', 'CHANGELOG.md'];
  expect(placesOf([...files, 'docs/style.md', 'docs/x.json'])).toEqual(files);
  expect(placesOf(ourFiles())).toContain('docs/README.md');
});
