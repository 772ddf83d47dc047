import { speaker } from './words.ts';

/** The refusals of files that the command line reads (`apply`, `directory import`), which are only in English. */
export const FILES = {
  // Mistakes in an entry of a declared file. Each text continues the name of its member.
  'client-id-built-in': 'is that of a client that is built in: choose another',
  'secret-of-no-method': 'is of no client with the method {method}: remove it',
  'client-id-of-key': 'must be {id}, which follows from its key',
  'method-of-gnap': 'must be none for a client of GNAP',
  'key-form': 'has both spki and public_key, or neither: write one of them',
  fingerprint: 'must be the fingerprint of the key, {id}, or be left out',
  'owner-form': 'must have either name or id, as of a person',

  // Refusals of a change that another process made obsolete.
  'client-removed-meanwhile': 'the client {id} was removed meanwhile',
  'client-added-meanwhile': 'the client {id} was added meanwhile',
  'client-changed-meanwhile': 'the client {id} was changed meanwhile: run the command again',
  'key-changed-meanwhile': 'the key {id} was changed meanwhile: run the command again',
  'key-added-meanwhile': 'the key {id} was added by another process meanwhile: try again',
  'passkey-added-meanwhile': 'the passkey {id} was added by another process meanwhile: try again',
  'owner-removed-meanwhile': 'the owner of the key {id} went meanwhile',
  'person-removed-meanwhile': 'the owner of {what} was removed meanwhile: try again',
  'second-factor-meanwhile': '{id} set up a second factor meanwhile: try again',

  // Conflicts of a directory file with the store.
  'other-owner': "{what} is {name}'s in the file and {owner}'s here",
  'known-elsewhere': '{what} belongs to another owner here',
  'key-of-client-here': 'the key {id} is that of a client here',
  'too-many-of-owner': 'with {what} there would be more than {most} of one owner',
  'second-factor-of-other-id':
    'the second factor of {name} does not open under the id that {name} has here: take it out of the file',
} as const;

export const saidOfFile = speaker(FILES);
