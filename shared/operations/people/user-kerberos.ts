import * as z from 'zod';
import { setKerberos } from '#shared/people/people.ts';
import { operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** Most principals of one person. */
const MOST = 100;

export const nameUserInKerberos = operation({
  name: 'user kerberos',
  summary:
    'set the Kerberos principals of a person; without principals, no ticket signs the person in',
  effect: 'changes',
  repeatable: true,
  input: z.strictObject({
    name: personName,
    principals: z
      .array(z.string().max(1024))
      .max(MOST, fault(said('too-many', { most: MOST })))
      .describe('all Kerberos names of the person, each with its realm')
      .register(SPELLINGS, { value: 'PRINCIPAL' }),
  }),
  operands: ['name', 'principals'],
  output: z.strictObject({ id: z.string(), name: z.string(), kerberos: z.array(z.string()) }),
  async run({ name: asked, principals }, house) {
    const { id, name, kerberos = [] } = await setKerberos(house, asked, principals);
    return { id, name, kerberos };
  },
});
