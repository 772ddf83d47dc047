import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Command, UsageError } from './command.ts';
import { parseInput } from './parse.ts';

const COMMAND: Command = {
  name: 'do',
  summary: 'does',
  operands: ['WHAT', '[WHERE]'],
  options: {
    name: { value: 'N', required: true, help: '' },
    each: { value: 'E', multiple: true, help: '' },
    fast: { help: '' },
  },
  run: async () => ({ json: null, lines: [] }),
};

test('options, flags and operands may come in any order', () => {
  const input = parseInput(COMMAND, [
    '--fast',
    'a',
    '--each',
    '1',
    '--name=-n',
    '--each',
    '2',
    'b',
  ]);
  expect(input.operands).toEqual(['a', 'b']);
  expect(input.text('name')).toBe('-n');
  expect(input.texts('each')).toEqual(['1', '2']);
  expect(input.flag('fast')).toBe(true);
  expect(input.flag('json')).toBe(false);
});

test.each([
  '-cxWf74flIE0nsUDz1QQjASeoaE4T8kaTq7QjYBzIgI',
  '--xWf74flIE0nsUDz1QQjASeoaE4T8kaTq7QjYBzIgI',
  '-lxV3dIjTBcJs_7DadkFZ_',
])('an operand in base64url that begins with a dash is no option: %s', (name) => {
  const input = parseInput(COMMAND, ['what', '--name', name, name]);
  expect([input.operands, input.text('name')]).toEqual([['what', name], name]);
  expect(() => parseInput(COMMAND, ['what', name])).toThrow('--name N is missing');
});

test.each(['-n', '--nmae', '--a-long-option-that-nobody-has'])(
  '%s is refused as an unknown option',
  (name) => {
    expect(() => parseInput(COMMAND, ['--name', 'n', 'what', name])).toThrow(name);
    expect(() => parseInput(COMMAND, ['--name', 'n', 'what', name])).toThrow(
      /^There is no option -/,
    );
  },
);

test('after -- an operand may begin with a dash', () => {
  expect(parseInput(COMMAND, ['--name', 'n', '--', '-a']).operands).toEqual(['-a']);
});

test.each([
  [['a'], '--name N is missing'],
  [['a', '--name', 'n', '--name', 'm'], '--name is given twice'],
  [['--name', 'n'], 'WHAT is missing'],
  [['', '--name', 'n'], 'WHAT is missing'],
  [['a', 'b', 'c', '--name', 'n'], '"c" is one operand too many'],
  [['a', '--nmae', 'n'], 'There is no option --nmae'],
  [['a', '--nam', 'n'], 'Did you mean --name?'],
  [['a', '--name'], "Option '--name <value>' argument missing"],
  [['a', '--name', 'n', '--fast=yes'], "Option '--fast' does not take an argument"],
  [['a', '--name', 'n', '--__proto__', 'x'], 'There is no option --__proto__'],
])('%j is refused', (args, message) => {
  expect(() => parseInput(COMMAND, args)).toThrow(UsageError);
  expect(() => parseInput(COMMAND, args)).toThrow(message);
});

test('--help needs no other argument', () => {
  expect(parseInput(COMMAND, ['--help']).flag('help')).toBe(true);
});

test('any arguments give an input or a UsageError', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '--',
      '-',
      '--name',
      '--name=',
      '--each',
      '--fast',
      '--no-fast',
      '--json',
      '-h',
    ),
  );
  fc.assert(
    fc.property(fc.array(word), (args) => {
      try {
        const input = parseInput(COMMAND, args);
        expect(input.flag('help') || input.operands[0]).toBeTruthy();
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
  );
});

test('a repeatable last operand takes all remaining arguments, or none', () => {
  const many: Command = { ...COMMAND, options: {}, operands: ['WHAT', '[MORE...]'] };
  expect(parseInput(many, ['a', 'b', 'c', 'd']).operands).toEqual(['a', 'b', 'c', 'd']);
  expect(parseInput(many, ['a']).operands).toEqual(['a']);
  expect(() => parseInput(many, [])).toThrow('WHAT is missing');
});
