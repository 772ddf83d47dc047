import * as z from 'zod';
import { endApplication } from '#shared/people/access/applications.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endGrant, findAccess } from '#shared/people/access/grants.ts';
import { endSignIn, findSignIn } from '#shared/people/access/sign-ins.ts';
import { personNamed } from '#shared/people/people.ts';
import { type House, InputError, Missing, operation } from '../operation.ts';
import { partId } from '../part-id.ts';
import { SPELLINGS } from '../texts.ts';
import { keysLeft, keysLeftShown } from './keys-left.ts';
import { untold, untoldShown } from './untold.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';

/** Ends one part of a person's access, by its id; resolves to false if the person has no such part. */
type End = (house: House, accountId: string, id: string) => Promise<boolean>;

const PARTS = {
  async grant(house, accountId, id) {
    if ((await findAccess(house, id))?.accountId !== accountId) return false;
    await endGrant(house, id, { kind: 'grant.ended', person: accountId, grant: id });
    return true;
  },
  async sign_in(house, accountId, id) {
    if ((await findSignIn(house, id))?.accountId !== accountId) return false;
    const ended = { kind: 'sign-in.ended', person: accountId, id } as const;
    await endSignIn(house, { uid: id, accountId }, ended);
    return true;
  },
  client: endApplication,
} satisfies Readonly<Record<string, End>>;

/** The refusals for a part that the person does not have. */
const LACKS = {
  grant: 'no-grant-of-person',
  sign_in: 'no-sign-in-of-person',
  client: 'no-client-of-person',
} as const satisfies Record<keyof typeof PARTS, string>;

const NAMES = ['grant', 'sign_in', 'client'] as const satisfies readonly (keyof typeof PARTS)[];

export const endUser = operation({
  name: 'user end',
  summary: 'end all sessions, grants and tokens of a person, or some; the person can sign in again',
  effect: 'changes',
  repeatable: true,
  input: z.strictObject({
    name: personName,
    grant: partId
      .describe('end only this grant with its tokens; the consent to the application stays')
      .register(SPELLINGS, { value: 'ID' }),
    sign_in: partId
      .describe('end only the sign-in of this browser, with the grants that depend on it')
      .register(SPELLINGS, { value: 'ID' }),
    client: partId.describe('end only this application: its consent and all its grants'),
  }),
  operands: ['name'],
  parts: NAMES,
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    grant: partId,
    sign_in: partId,
    client: partId,
    ended: z.literal(true),
    ...keysLeftShown,
    ...untoldShown,
  }),
  async run({ name: asked, ...parts }, house) {
    const [part, ...others] = NAMES.filter((one) => parts[one] !== undefined);
    if (others.length > 0) throw new InputError([], said('one-part', { names: NAMES.join(', ') }));
    const { id: accountId, name } = await personNamed(house.stores.people, asked);
    const ended = { id: accountId, name, ...parts, ended: true as const };
    if (part === undefined) {
      await endEverything(house, accountId, { kind: 'person.ended', person: accountId });
      return {
        ...ended,
        ...(await keysLeft(house.stores, accountId)),
        ...(await untold(house.stores, accountId)),
      };
    }
    const which = parts[part] ?? '';
    if (!(await PARTS[part](house, accountId, which))) {
      throw new Missing(said(LACKS[part], { name, id: which }));
    }
    return { ...ended, ...(await untold(house.stores, accountId)) };
  },
});
