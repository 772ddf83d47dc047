import * as z from 'zod';
import { listConsents } from '#shared/people/access/consents.ts';
import { listAccess, type ListedAccess } from '#shared/people/access/grants.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { personNamed } from '#shared/people/people.ts';
import { grantShown, scopes, shownGrant, time } from '../grant-shown.ts';
import { operation } from '../operation.ts';
import { personName } from './person-name.ts';

const client = {
  client_id: z.string(),
  client_name: z.string().optional().describe('absent: the client was removed'),
};

const output = z.strictObject({
  id: z.string(),
  name: z.string(),
  sign_ins: z.array(
    z.strictObject({
      id: z.string(),
      since: time,
      address: z.string().optional(),
      agent: z.string().optional(),
    }),
  ),
  grants: z.array(z.strictObject({ id: z.string(), ...client, ...grantShown })),
  consents: z.array(
    z.strictObject({
      ...client,
      redirect_host: z.string(),
      since: time,
      allowed: scopes,
      refused: scopes,
    }),
  ),
});

/** Each list has a maximum (`MOST_SIGN_INS`, `MOST_GRANTS`, `MOST_CONSENTS`), so it needs no pages. */
export const showAccess = operation({
  name: 'user access',
  summary: 'list the sign-ins, grants and consents of a person with their ids (for user end)',
  effect: 'reads',
  input: z.strictObject({ name: personName }),
  operands: ['name'],
  output,
  async run({ name: asked }, house) {
    const { people, clients } = house.stores;
    const { id, name } = await personNamed(people, asked);
    const [signIns, grants, consents] = await Promise.all([
      listSignIns(house, id),
      listAccess(house, id),
      listConsents(house, id),
    ]);
    const ids = new Set([...grants, ...consents].map(({ clientId }) => clientId));
    const known = await Promise.all([...ids].map((one) => clients.get(one)));
    const names = new Map(known.flatMap((one) => (one ? [[one.client_id, one.client_name]] : [])));
    return {
      id,
      name,
      sign_ins: signIns.map(({ uid, since, address, agent }) => ({
        id: uid,
        since,
        address,
        agent,
      })),
      grants: grants.map((grant) => grantOf(grant, names.get(grant.clientId))),
      consents: consents.map(({ clientId, redirectHost, since, allowed, refused }) => ({
        client_id: clientId,
        client_name: names.get(clientId),
        redirect_host: redirectHost,
        since,
        allowed,
        refused,
      })),
    };
  },
});

const grantOf = (grant: ListedAccess, client_name: string | undefined) => ({
  id: grant.grantId,
  client_id: grant.clientId,
  client_name,
  ...shownGrant(grant),
});
