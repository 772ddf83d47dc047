import { expect, test } from '@jest/globals';
import { adminValue } from './admin-values.ts';
import { sampleView } from './samples.fixture.ts';

test.each([
  ['state', 'issuing', 'Stellt aus'],
  ['state', 'unheard of', 'unheard of'],
  ['scope', 'issuing', 'issuing'],
  [
    'not_before',
    '2026-03-09T07:03:00.000Z',
    '<time datetime="2026-03-09T07:03:00.000Z" data-shown="long">',
  ],
  ['created_at', 1_773_039_780, '<time datetime="2026-03-09T07:03:00.000Z" data-shown="long">'],
  ['met', 1_773_039_780, '1773039780'],
  ['notes', '2026-03-09T07:03:00.000Z', '2026-03-09T07:03:00.000Z'],
])('a member %s of %j is shown in German as %s', (name, value, shown) => {
  expect(String(adminValue(sampleView('de'), name, value))).toContain(shown);
});
