import * as z from 'zod';
import { removePerson } from '#shared/people/remove-person.ts';
import { operation } from '../operation.ts';
import { removeOwnTrees } from './own-trees.ts';
import { personName } from './person-name.ts';
import { untold, untoldShown } from './untold.ts';

export const removeUser = operation({
  name: 'user remove',
  summary: 'erase a person; the next request with any credential of the person is refused',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    trees: z
      .boolean()
      .default(false)
      .describe("also delete the documents in the person's own trees"),
  }),
  operands: ['name'],
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    removed: z.literal(true),
    trees: z.int().exactOptional().describe('the number of trees that were deleted'),
    granted_at: z
      .array(z.string())
      .exactOptional()
      .describe('spaces that still grant scopes to the name (`grants.people`)'),
    ...untoldShown,
  }),
  async run({ name: asked, trees }, house) {
    const { stores, config } = house;
    const { id, name } = await removePerson(house, asked);
    const granting = config.spaces.filter(({ grants }) => Object.hasOwn(grants.people, name));
    return {
      id,
      name,
      removed: true as const,
      ...(trees && { trees: await removeOwnTrees(stores.trees, config, id) }),
      ...(granting.length > 0 && { granted_at: granting.map(({ url }) => url) }),
      ...(await untold(stores, id)),
    };
  },
});
