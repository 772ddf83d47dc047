import { counted } from '#shared/base/counted.ts';
import { type ListedPerson, listUsers } from '#shared/operations/people/user-list.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import type { Told } from '#shared/operations/operation.ts';
import { showUser } from '#shared/operations/people/user-show.ts';
import { profileLines } from '../lines/profile-lines.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { addUser } from '#shared/operations/people/user-add.ts';
import { PASSWORD_SOURCE } from '../arguments/secret.ts';
import { inviteUser } from '#shared/operations/people/user-invite.ts';
import { linkLines } from '../lines/link-lines.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { renewPassword } from '#shared/operations/people/user-passwd.ts';
import { keysLeftLines } from '../lines/keys-left.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { untoldLines } from '../lines/untold.ts';
import { recoverUser } from '#shared/operations/people/user-recover.ts';
import { nameUserInKerberos } from '#shared/operations/people/user-kerberos.ts';
import { disableUser, enableUser } from '#shared/operations/people/user-disable.ts';
import type { Command } from '../arguments/command.ts';
import { endUser } from '#shared/operations/people/user-end.ts';
import { columns } from '#shared/base/printable.ts';
import { showAccess } from '#shared/operations/people/user-access.ts';
import { scopeWords } from '../lines/scope-words.ts';
import { removeUser } from '#shared/operations/people/user-remove.ts';

export const userList = listCommandOf(listUsers, {
  details: [
    'Digest, Mutual and SCRAM refuse a person without a verifier for the realm, as if the password were wrong,',
    'until `user passwd` makes a verifier. A Mutual verifier is for one host and one algorithm. SCRAM accepts no password',
    'that clients prepare in different ways, such as one with ½.',
  ],
  nothing({ email, search, group, state, lacking_second_factor }) {
    const among = email === undefined ? '' : ` with the address ${email}`;
    if (lacking_second_factor) return `Nobody${among} lacks a second factor.`;
    if (email !== undefined) return `There is nobody${among}.`;
    const inGroup = group !== undefined && search === undefined && state === undefined;
    if (inGroup) return `Nobody is in the group ${group}.`;
    const isWhole = [search, group, state].every((one) => one === undefined);
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
    person.came_from && `(from ${person.came_from.source})`,
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

type Shown = Told<typeof showUser.output>;

export const userShow = commandOf(showUser, {
  lines: (person) => [
    `id: ${person.id}`,
    `name: ${person.name}`,
    ...profileLines(person),
    ...(person.kerberos ?? []).map((principal) => `kerberos: ${principal}`),
    ...(person.came_from ? [`from ${person.came_from.source}: ${person.came_from.subject}`] : []),
    ...(person.linked ?? []).map(
      ({ source, subject, created_at }) =>
        `linked to ${source}: ${subject}, since ${minute(created_at)}`,
    ),
    `added: ${minute(person.created_at)}`,
    ...(person.passwordless ? ['no password'] : []),
    secondFactorLine(person),
    ...(person.admin ? ['administrator'] : []),
    ...(person.disabled ? ['disabled: cannot sign in'] : []),
    ...(person.demo ? ['demo: refused in production'] : []),
    `open: ${counted(person.sign_ins, 'sign-in')}, ${counted(person.grants, 'grant')}, ${counted(person.keys, 'key')}, ${counted(person.passkeys, 'passkey')}`,
  ],
});

function secondFactorLine({ second_factor, lacks_second_factor }: Shown): string {
  if (second_factor === undefined) {
    return lacks_second_factor
      ? 'second factor: none, and one is demanded: the next sign-in leads through the set-up'
      : 'second factor: none';
  }
  const { created_at, used_at, recovery_codes } = second_factor;
  return `second factor: since ${minute(created_at)}, ${lastUse(used_at)}, recovery codes left: ${recovery_codes}`;
}

export const userAdd = commandOf(addUser, {
  source: PASSWORD_SOURCE,
  details: [
    'NAME: 1 to 64 letters, digits and . _ @ + -, in any case.',
    'A password has 8 characters or more, at most 1,024 octets, and is not one of the 10,000 commonest.',
    'The person gets the rights of the name (`grants.people`, `--allow-person`), also if another person had it before.',
  ],
  lines: (person) => Object.entries(person).map(([member, value]) => `${member}: ${value}`),
});

export const userInvite = commandOf(inviteUser, {
  details: [
    'The link works once, for 15 minutes. Its holder sets the password, so send the link only to that person.',
    'A link by mail verifies its address. Without NAME the person chooses the name, with a link for one --email;',
    'people.registration must be invited or open.',
    'If the link expired, the same command prints a new link, as long as the person has no way to sign in.',
  ],
  lines: linkLines,
});

export const userSet = commandOf(setUser, {
  details: [
    'Settings without an option stay as they are. Give all addresses, groups or attributes at once: they replace the',
    'earlier values. An application sees the change when it next asks for claims. A right to administer begins and ends',
    'at once.',
  ],
  lines: ({ name, admin, ...profile }) => [
    `name: ${name}`,
    ...profileLines(profile),
    ...(admin ? ['administrator'] : []),
  ],
});

export const userPasswd = commandOf(renewPassword, {
  source: PASSWORD_SOURCE,
  lines: ({ password, untold, ...person }) => [
    `${person.name} has a new password. All that the old one opened here has ended.`,
    OWN_SESSIONS,
    ...untoldLines(untold),
    ...keysLeftLines(person),
    ...(password === undefined ? [] : [`password: ${password}`]),
  ],
});

export const userRecover = commandOf(recoverUser, {
  details: [
    'The link works once, for 15 minutes, and replaces an earlier link. Its holder sets the password: check who asks you,',
    'and send the link only to the person. The old password stays valid until the link is used. Then all sign-ins, grants and',
    'tokens of the person end; passkeys and keys stay.',
  ],
  lines: linkLines,
});

export const userKerberos = commandOf(nameUserInKerberos, {
  details: [
    'PRINCIPAL is a Kerberos name with its realm, such as alice@EXAMPLE.COM. The list replaces the earlier list.',
    'The sessions, grants and tokens of the person end at once.',
  ],
  lines: ({ name, kerberos }) => [
    kerberos.length === 0
      ? `No ticket lets ${name} in.`
      : `Tickets of ${kerberos.join(', ')} let ${name} in.`,
  ],
});

const view = {
  lines: ({ name, disabled, untold }: Told<typeof disableUser.output>) =>
    disabled
      ? [`${name} cannot sign in any more.`, OWN_SESSIONS, ...untoldLines(untold)]
      : [`${name} can sign in again.`],
};

export const userEnable = commandOf(enableUser, view);

const disable = commandOf(disableUser, view);

export const userDisable: Command = {
  ...disable,
  options: { undo: { help: 'the same as user enable' } },
  run: (input, shell) => (input.flag('undo') ? userEnable : disable).run(input, shell),
};

export const userEnd = commandOf(endUser, {
  details: ['`user access NAME` lists the ids.'],
  lines({ grant, sign_in, client, untold, ...person }) {
    const parts = { grant, 'sign-in': sign_in, client };
    const ended = Object.entries(parts).flatMap(([part, id]) =>
      id === undefined ? [] : [[part, id]],
    );
    const [one] = ended;
    if (one !== undefined) {
      return [`The ${one.join(' ')} of ${person.name} has ended.`, ...untoldLines(untold)];
    }
    return [
      `Everything that ${person.name} had opened here has ended.`,
      OWN_SESSIONS,
      ...untoldLines(untold),
      ...keysLeftLines(person),
    ];
  },
});

type ShownAccess = Told<typeof showAccess.output>;

export const userAccess = commandOf(showAccess, {
  lines({ name, sign_ins, grants, consents }) {
    const lines = [
      columns(sign_ins.map(signInRow)),
      columns(grants.map(grantRow)),
      columns(consents.map(consentRow)),
    ].flat();
    return lines.length > 0 ? lines : [`Nothing is open in the name of ${name}.`];
  },
});

const signInRow = ({ id, since, address = '', agent = '' }: ShownAccess['sign_ins'][number]) => [
  'sign-in',
  id,
  minute(since),
  address,
  agent,
];

const grantRow = (grant: ShownAccess['grants'][number]) => {
  const { id, client_id, client_name = REMOVED, since, last_issue, device, browser } = grant;
  return [
    'grant',
    id,
    client_id,
    client_name,
    minute(since),
    lastUse(last_issue),
    device ? 'device' : 'browser',
    scopeWords(grant.scopes),
    (device ?? browser)?.address ?? '',
    (device ?? browser)?.agent ?? '',
  ];
};

const consentRow = (consent: ShownAccess['consents'][number]) => {
  const { client_id, client_name = REMOVED, redirect_host, since, allowed } = consent;
  return ['consent', client_id, client_name, redirect_host, minute(since), scopeWords(allowed)];
};

const REMOVED = '(removed)';

export const userRemove = commandOf(removeUser, {
  details: [
    'The command removes sign-ins, grants and tokens, the password and its verifiers, keys, and consents. Lines of',
    'the log name the person until its rotation. Documents of the person stay in shared trees. The id stays, so that all',
    'tokens of the person are refused. A hash of the name stays, so that no other person gets the name with its rights',
    '(`user add --reuse-name`). Stored queries of the person are deleted within ten minutes.',
  ],
  lines: ({ id, name, trees, granted_at = [], untold }) => [
    `Removed ${name} (${id}).`,
    OWN_SESSIONS,
    ...untoldLines(untold),
    ...(trees === undefined ? [] : [`Removed ${trees} trees of their own.`]),
    ...granted_at.map((url) => `${url} still grants scopes to ${name} (grants.people).`),
  ],
});
