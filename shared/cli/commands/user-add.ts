import { addUser } from '#shared/operations/people/user-add.ts';
import { PASSWORD_SOURCE } from '../arguments/secret.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userAdd = commandOf(addUser, {
  source: PASSWORD_SOURCE,
  details: [
    'NAME: 1 to 64 letters, digits and . _ @ + -, in any case.',
    'A password has 8 characters or more, at most 1,024 octets, and is not one of the 10,000 commonest.',
    'The person gets the rights that a space grants to the name (`grants.people`), also if another person had it before.',
  ],
  lines: (person) => Object.entries(person).map(([member, value]) => `${member}: ${value}`),
});
