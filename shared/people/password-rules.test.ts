import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { opaqueString } from './names/precis.ts';
import { judgePassword } from './password-rules.ts';

test.each([
  ['8 characters of one octet', 'x1y2z3w4'],
  ['8 characters of three octets', '電池馬電池馬電池'],
  ['8 characters of four octets', '🐴🔋📎🐎🔋📎🐴🔋'],
  ['1,024 octets', 'x'.repeat(1024)],
  ['spaces around it', '  correct horse '],
])('%s may be set', async (_, password) => {
  expect(await judgePassword(password)).toEqual({ enforced: password });
});

test.each([
  ['nothing', '', 'short'],
  ['7 characters', 'x1y2z3w', 'short'],
  ['7 characters of 28 octets', '🐴🔋📎🐎🔋📎🐴', 'short'],
  ['8 code points that are 7 in form C', 'e\u0301x1y2z3', 'short'],
  ['1,025 octets', 'x'.repeat(1025), 'long'],
  ['1,026 octets in 513 characters', 'é'.repeat(513), 'long'],
  ['a flood', 'x'.repeat(1_000_000), 'long'],
  ['a line end', 'correct horse\n', 'characters'],
  ['NUL', 'correct\0horse', 'characters'],
  ['a lone surrogate', 'correct horse\udfff', 'characters'],
  ['a common password', 'baseball', 'common'],
  ['a common password in another case', 'BaseBall', 'common'],
  ['a common password of digits', '12345678', 'common'],
  ['the last of the 10,000 commonest', 'dalmatio', 'common'],
])('%s is refused', async (_, password, fault) => {
  expect(await judgePassword(password)).toEqual({ fault });
});

test('a common password with additional characters may be set', async () => {
  expect(await judgePassword('baseball bat')).toEqual({ enforced: 'baseball bat' });
});

test('any password that may be set works at sign-in, in each of its Unicode forms', async () => {
  await fc.assert(
    fc.asyncProperty(anyText(), async (password) => {
      const judged = await judgePassword(password);
      if ('fault' in judged) return;
      expect(opaqueString(password)).toBe(judged.enforced);
      expect(opaqueString(password.normalize('NFD'))).toBe(judged.enforced);
    }),
    { numRuns: 2000 },
  );
});
