import { expect, test } from '@jest/globals';
import { KEY_REFUSALS } from '#shared/operations/key-refusals.ts';
import { formerName } from '#shared/people/people.ts';
import { messageWord } from './messages.ts';

test.each([
  ['alice is disabled: user enable alice comes first.', 'alice ist gesperrt: '],
  ['alice has no second factor', 'alice hat keinen zweiten Faktor.'],
  ['alice has no address: give --email', 'alice hat keine E-Mail-Adresse: '],
  [
    'alice was invited already: change the profile with user set alice',
    'alice ist schon eingeladen: ',
  ],
  ['client a is built in: change the configuration instead', 'Ändern Sie ihn dort.'],
  ['client a is built in: end its grants one by one', 'Beenden Sie seine Zugriffe einzeln.'],
  ['the name $& is taken: choose another', 'Den Namen $& gibt es schon: '],
  ['the key k is that of a client of the authorization server: make another', 'eines Clients'],
  ['client a was changed meanwhile: try again', 'Den Client a hat inzwischen jemand geändert'],
  [formerName('ann').message, 'ann war der Name einer gelöschten Person'],
  ...Object.values(KEY_REFUSALS).map((words) => [`the key k ${words}`, 'Schlüssel k'] as const),
])('in German: %s', (message, words) => expect(messageWord('de', message)).toContain(words));

test.each([
  'alice is disabled: user enable alice comes first',
  'alice is disabled: x',
  'alice has no address: x',
  'alice was invited already: x',
  'alice has no second factor',
  'client a is built in: x',
])('a text that reads like another reason stays what somebody typed: %s', (typed) => {
  const address = `${typed} is no URL as clients ask for it: percent-encoded, with https://`;
  expect(messageWord('de', address)).toMatch(
    `${typed} ist keine Adresse, nach der ein Client fragt`,
  );
  expect(messageWord('de', `there is no key ${typed}.`)).toBe(`Es gibt keinen Schlüssel ${typed}.`);
});
