import * as z from 'zod';
import { grantOfClient, type ListedAccess, pageOfGrants } from '#shared/people/access/grants.ts';
import type { ArtefactPlace } from '#shared/stores/oauth/artefacts.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { grantShown, shownGrant } from '../grant-shown.ts';
import { InputError, operation, type Told } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { partId } from '../part-id.ts';
import { SPELLINGS } from '../texts.ts';
import { clientId } from './client-id.ts';
import { findClient } from './find-client.ts';
import { said } from '#shared/refusals/operations.ts';

const grant = z.strictObject({
  id: z.string(),
  person: z.string().describe('the id of the person who gave it'),
  name: z.string().exactOptional().describe('the name of the person; missing: they were removed'),
  ...grantShown,
});

/** A grant in a client's list of grants. */
export type GrantOfClient = Told<typeof grant>;

export const showClientAccess = operation({
  name: 'client access',
  summary: 'list the grants that people gave a client, with their ids (for client end)',
  effect: 'reads',
  input: z.strictObject({
    client_id: clientId,
    grant: partId.describe('only this grant').register(SPELLINGS, { value: 'ID' }),
    ...pageInput,
  }),
  operands: ['client_id'],
  output: pageOf(grant).extend({ client_id: z.string() }),
  async run({ client_id: id, grant: only, after, limit }, house) {
    const { clients, people } = house.stores;
    const { client_id } = await findClient(clients, id);
    const place = after === undefined ? undefined : placeIn(after);
    const { grants, next } = await (only === undefined
      ? pageOfGrants(house, client_id, { limit, after: place })
      : grantOfClient(house, client_id, only));
    const givers = await Promise.all(grants.map(({ accountId }) => people.get(accountId)));
    return {
      client_id,
      items: grants.map((one, n) => grantOf(one, givers[n])),
      ...(next && { next: JSON.stringify([next.end, next.id]) }),
    };
  },
});

const grantOf = (one: ListedAccess, giver: PersonRecord | undefined): GrantOfClient => ({
  id: one.grantId,
  person: one.accountId,
  ...(giver && { name: giver.name }),
  ...shownGrant(one),
});

const cursor = z.tuple([z.int().min(0), z.string()]);

/** Throws `InputError` if the text is no `next` of this list. */
function placeIn(text: string): ArtefactPlace {
  try {
    const [end, id] = cursor.parse(JSON.parse(text));
    return { end, id };
  } catch {
    throw new InputError(['after'], said('page-unknown'));
  }
}
