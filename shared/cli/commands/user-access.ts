import { columns } from '#shared/base/printable.ts';
import type { Told } from '#shared/operations/operation.ts';
import { showAccess } from '#shared/operations/people/user-access.ts';
import { scopeWords } from '../lines/scope-words.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { commandOf } from '../stores/of-operation.ts';

type Shown = Told<typeof showAccess.output>;

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

const signInRow = ({ id, since, address = '', agent = '' }: Shown['sign_ins'][number]) => [
  'sign-in',
  id,
  minute(since),
  address,
  agent,
];

const grantRow = (grant: Shown['grants'][number]) => {
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

const consentRow = (consent: Shown['consents'][number]) => {
  const { client_id, client_name = REMOVED, redirect_host, since, allowed } = consent;
  return ['consent', client_id, client_name, redirect_host, minute(since), scopeWords(allowed)];
};

const REMOVED = '(removed)';
