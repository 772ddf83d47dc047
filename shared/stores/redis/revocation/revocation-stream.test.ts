import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { streamEntry } from './revocation-stream.ts';

const fields = (entry: Readonly<Record<string, string>>) => Object.entries(entry).flat();
const entry = { kind: 'token', id: 'x', generation: '3', until: '1800000000000' };

describe('entries of the stream', () => {
  test.each(['token', 'grant', 'key'])('a %s', (kind) => {
    expect(streamEntry(fields({ ...entry, kind }))).toEqual({
      kind,
      id: 'x',
      until: 1_800_000_000_000,
    });
  });

  test.each(['person', 'client'])('the generation of a %s', (kind) => {
    const expected = { kind, id: 'x', generation: 3, until: 1_800_000_000_000 };
    expect(streamEntry(fields({ ...entry, kind }))).toEqual(expected);
    expect(streamEntry([...fields({ ...entry, kind }), 'reason', 'theft'])).toEqual(expected);
  });

  test.each([
    ['an unknown kind', fields({ ...entry, kind: 'tenant' })],
    ['a kind of another case', fields({ ...entry, kind: 'Token' })],
    ['a kind every object has', fields({ ...entry, kind: 'constructor' })],
    ['no id', ['kind', 'token', 'generation', '0', 'until', '1']],
    ['no end', ['kind', 'token', 'id', 'x', 'generation', '0']],
    ['an end that is no number', fields({ ...entry, until: 'soon' })],
    ['no generation', ['kind', 'person', 'id', 'x', 'until', '1']],
    ['a generation beyond counting', fields({ ...entry, kind: 'person', generation: '1e300' })],
    ['nothing', []],
  ])('%s is refused', (_, refused) => {
    expect(() => streamEntry(refused)).toThrow('cannot be understood');
  });

  test('any fields give an entry with all its members, or a refusal', () => {
    const word = fc.oneof(
      fc.constantFrom(...Object.keys(entry), 'token', 'person', '1'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        let read;
        try {
          read = streamEntry(words);
        } catch (error) {
          expect(String(error)).toContain('cannot be understood');
          return;
        }
        expect(typeof read.id).toBe('string');
        if (read.kind !== 'epoch') expect(Number.isFinite(read.until)).toBe(true);
      }),
    );
  });
});
