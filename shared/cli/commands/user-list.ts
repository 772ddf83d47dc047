import { counted } from '#shared/base/counted.ts';
import { type ListedPerson, listUsers } from '#shared/operations/people/user-list.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

export const userList = listCommandOf(listUsers, {
  details: [
    'A person without a verifier for a realm is refused there by Digest, Mutual and SCRAM, as with a wrong password,',
    'until `user passwd` makes one. A verifier of Mutual is for one host and one algorithm. SCRAM takes no password',
    'that clients prepare in different ways, such as one with ½.',
  ],
  nothing({ email, prefix, group, state, lacking_second_factor }) {
    const among = email === undefined ? '' : ` with the address ${email}`;
    if (lacking_second_factor) return `Nobody${among} lacks a second factor.`;
    if (email !== undefined) return `There is nobody${among}.`;
    const inGroup = group !== undefined && prefix === undefined && state === undefined;
    if (inGroup) return `Nobody is in the group ${group}.`;
    const isWhole = [prefix, group, state].every((one) => one === undefined);
    return isWhole ? 'There is nobody yet.' : 'There is nobody like that.';
  },
  lines: (items: readonly ListedPerson[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['id', 'name', 'about'];

const row = ({ id, name, kerberos = [], lacks, ...person }: ListedPerson) => [
  id,
  name,
  [
    person.disabled && '(disabled)',
    person.admin && '(administrator)',
    person.demo && '(demo: refused in production)',
    person.passwordless && '(no password)',
    person.second_factor && '(second factor)',
    person.passkeys > 0 && `(${counted(person.passkeys, 'passkey')})`,
    person.lacks_second_factor && '(must set up a second factor)',
    kerberos.length > 0 && `(kerberos: ${kerberos.join(', ')})`,
    lacks.length > 0 && `(lacks: ${lacks.map(lackingIn).join('; ')})`,
  ]
    .filter((state) => state !== false)
    .join(' '),
];

const lackingIn = ({ realm, verifiers }: ListedPerson['lacks'][number]) =>
  `${realm}: ${verifiers.join(', ')}`;
