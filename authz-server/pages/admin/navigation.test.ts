import { expect, test } from '@jest/globals';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { groupOf, pageOf } from './addresses.ts';
import { linksFrom } from './links.ts';
import { entryOf, navigation, SECTIONS } from './navigation.ts';

test('each group of operations is in one section', () => {
  const groups = [...new Set(OPERATIONS.map(groupOf))].toSorted();
  expect(Object.values(SECTIONS).flat().toSorted()).toEqual(groups);
});

test('navigation and links of lists lead to each operation that is not on one thing', () => {
  const entries = [...new Set(OPERATIONS.map(groupOf))].flatMap((group) => entryOf(group) ?? []);
  const reached = new Set(entries.map((entry) => pageOf(entry)));
  for (const entry of [...entries, ...OPERATIONS.filter(({ name }) => name.endsWith(' list'))]) {
    for (const { href } of linksFrom(entry, { items: [] }, 'en')) reached.add(href);
  }
  const free = OPERATIONS.filter(
    ({ name, operands }) => operands.length === 0 || / (?:add|invite|list)$/.test(name),
  );
  expect(free.filter((operation) => !reached.has(pageOf(operation)))).toEqual([]);
});

test('the page of a group marks its section, and its group if the section has several', () => {
  const shown = OPERATIONS.find(({ name }) => name === 'key add');
  const { sections, groups } = navigation('en', shown);
  expect(sections.filter(({ isHere }) => isHere)).toEqual([
    { href: '/admin/realm-list', text: 'Access', isHere: 'true' },
  ]);
  expect(groups.map(({ text, isHere }) => [text, isHere])).toEqual([
    ['Spaces', undefined],
    ['API keys', 'true'],
    ['Tokens', undefined],
  ]);
  expect(
    navigation(
      'en',
      OPERATIONS.find(({ name }) => name === 'user list'),
    ).groups,
  ).toEqual([]);
});
