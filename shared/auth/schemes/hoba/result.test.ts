import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { parseResult, unpadded } from './result.ts';

const bytes = Buffer.alloc(256, 0xa5);
const PARTS = ['k'.repeat(43), 'c'.repeat(51), 'n'.repeat(11), bytes.toString('base64url')];
const withPart = (index: number, value: string) => PARTS.with(index, value).join('.');

test('RFC 7486 section 2, HOBA-RES: a result has kid, challenge, nonce and signature', () => {
  const [kid, challenge, nonce] = PARTS;
  expect(parseResult(PARTS.join('.'))).toEqual({ kid, challenge, nonce, signature: bytes });
});

test('RFC 7486 figure 1 allows `=`: a client may pad its values, and signs the padded values', () => {
  expect(parseResult(withPart(0, `${PARTS[0]}=`))).toMatchObject({ kid: `${PARTS[0]}=` });
  expect(parseResult(withPart(2, `${PARTS[2]}=`))).toMatchObject({ nonce: `${PARTS[2]}=` });
  expect(parseResult(withPart(3, `${PARTS[3]}==`))).toMatchObject({ signature: bytes });
  expect(unpadded('ab==')).toBe('ab');
});

describe('malformed results', () => {
  test.each([
    ['nothing', ''],
    ['three parts', PARTS.slice(1).join('.')],
    ['five parts', [...PARTS, 'x'].join('.')],
    ['an empty part at the end', `${PARTS.join('.')}.`],
    ['a line end behind it', `${PARTS.join('.')}\n`],
    ...PARTS.flatMap((part, index): [string, string][] => [
      [`part ${index} empty`, withPart(index, '')],
      [`part ${index} with a space`, withPart(index, `${part} `)],
      [`part ${index} in base64`, withPart(index, `+${part.slice(1)}`)],
      [`part ${index} with a character that is none of ASCII`, withPart(index, `ä${part}`)],
      [`part ${index} with three \`=\``, withPart(index, `${part}===`)],
      [`part ${index} with \`=\` amid`, withPart(index, `a=${part}`)],
      [`part ${index} too long`, withPart(index, 'A'.repeat(3000))],
    ]),
    ['a challenge with padding', withPart(1, `${PARTS[1]}=`)],
    ['a signature of one character', withPart(3, 'A')],
    ['spare bits that are not zero', withPart(3, `${PARTS[3]?.slice(0, -1)}R`)],
  ])('a malformed result is refused: %s', (_, text) => {
    expect(parseResult(text)).toBeUndefined();
  });

  test('any text gives undefined, or the parts that it consists of', () => {
    const text = fc.oneof(
      anyText(),
      fc.array(fc.stringMatching(/^[\w-]*={0,3}$/), { maxLength: 6 }).map((all) => all.join('.')),
    );
    fc.assert(
      fc.property(text, (one) => {
        const result = parseResult(one);
        if (result === undefined) return;
        const { kid, challenge, nonce, signature } = result;
        const again = [kid, challenge, nonce, signature.toString('base64url')].join('.');
        expect(unpadded(one)).toBe(again);
      }),
    );
  });
});
