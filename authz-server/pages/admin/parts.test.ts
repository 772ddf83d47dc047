import { expect, test } from '@jest/globals';
import { OPERATIONS } from '#shared/operations/operations.ts';
import type { Texts } from '#shared/operations/texts.ts';
import { fieldsOf } from './members.ts';
import { inParts } from './parts.ts';
import type { Wrong } from './refusal.ts';

/** The form of an operation; the parts that are open. */
function formOf(name: string, given: Readonly<Record<string, string>> = {}, wrong?: Wrong) {
  const operation = OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  const texts: Texts = new Map(Object.entries(given).map(([member, text]) => [member, [text]]));
  const all = fieldsOf(operation, texts, 'en', wrong);
  const { fields, parts } = inParts(name, all, 'en');
  const open = parts.filter(({ isOpen }) => isOpen).map(({ title }) => title);
  return { all, fields, parts, open };
}

test.each(OPERATIONS.map(({ name }) => name))('%s: each field is in the form once', (name) => {
  const { all, fields, parts } = formOf(name);
  const shown = [fields, ...parts.map((part) => part.fields)].flat().map((field) => field.name);
  expect(shown.toSorted()).toEqual(all.map((field) => field.name).toSorted());
  for (const part of parts) {
    expect(part.fields.length).toBeGreaterThan(0);
    expect(part.fields.filter(({ required }) => required)).toEqual([]);
  }
});

test('a client is registered by a short form; what is rarely needed is closed', () => {
  const { fields, open } = formOf('client add');
  expect(fields.map(({ name }) => name)).toEqual([
    'client_name',
    'grant_types',
    'public',
    'scope',
    'redirect_uris',
  ]);
  expect(fields.filter(({ isUsual }) => isUsual).map(({ name }) => name)).toEqual([
    'client_name',
    'grant_types',
    'redirect_uris',
  ]);
  expect(open).toEqual([]);
});

test.each([
  ['the choice that is there at first', { native: 'false' }, undefined, []],
  ['another choice', { native: 'true' }, undefined, ['Sign-in of people']],
  ['a text', { resources: 'https://a.example' }, undefined, ['More rights']],
  ['a mistake', {}, { path: ['gnap_key'], message: 'is no key' }, ['A GNAP client']],
])('a part is open because of what is typed: %s', (_, given, wrong, open) => {
  expect(formOf('client add', given, wrong).open).toEqual(open);
});
