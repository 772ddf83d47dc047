import * as z from 'zod';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { type House, InputError, operation, type Told } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { said } from '#shared/refusals/operations.ts';

const time = z.number().describe('milliseconds since the epoch');

const listed = z.strictObject({
  id: z.string(),
  application: z.string(),
  realm: z
    .string()
    .exactOptional()
    .describe('the realm that accepts the key; absent: a key for Concealed'),
  scopes: z.array(z.string()).exactOptional(),
  scheme: z.string().exactOptional().describe('the scheme of a public key'),
  name: z.string().exactOptional().describe('the name of a public key'),
  created_at: time,
  expires_at: time.exactOptional(),
  used_at: time.exactOptional().describe('the last use, to a minute'),
  demo: z.boolean().exactOptional().describe('refused in production'),
});

/** A key in the list of keys. */
export type ListedKey = Told<typeof listed>;

/** The kinds of keys in the order of the list, each with a function for its page after a position. */
const KINDS: readonly Kind[] = [
  {
    page: async (after, limit, { stores }) => {
      const place = after && { application: after.owner, ...after };
      return (await stores.apiKeys.page({ limit, after: place })).map(shownApiKey);
    },
  },
  {
    page: async (after, limit, { stores }) => {
      const owner = { kind: 'application', id: after?.owner ?? '' } as const;
      const place = after && { ...after, owner };
      const keys = await stores.publicKeys.pageOfApplications({ limit, after: place });
      return keys.map(shownPublicKey);
    },
  },
];

interface Kind {
  page(after: Place | undefined, limit: number, house: House): Promise<readonly ListedKey[]>;
}

/** The position of a key among the keys of its kind. */
interface Place {
  readonly owner: string;
  readonly created_at: number;
  readonly id: string;
}

/** Lists API keys first, then keys for Concealed; each kind by application and age. */
export const listKeys = operation({
  name: 'key list',
  summary: 'list the keys of applications: owner, realm, expiry and last use',
  effect: 'reads',
  input: z.strictObject(pageInput),
  operands: [],
  output: pageOf(listed),
  async run({ after, limit }, house) {
    const [first, place] = after === undefined ? [0, undefined] : placeIn(after);
    const found: { readonly key: ListedKey; readonly kind: number }[] = [];
    for (const [kind, { page }] of KINDS.entries()) {
      const room = limit + 1 - found.length;
      if (kind < first || room === 0) continue;
      const keys = await page(kind === first ? place : undefined, room, house);
      found.push(...keys.map((key) => ({ key, kind })));
    }
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return {
      items: items.map(({ key }) => key),
      ...(found.length > limit && last && { next: nextAfter(last.kind, last.key) }),
    };
  },
});

const nextAfter = (kind: number, { application, created_at, id }: ListedKey) =>
  JSON.stringify([kind, application, created_at, id]);

const cursor = z.tuple([z.int().min(0).max(1), z.string(), z.int().min(0), z.string()]);

/** Throws `InputError` if the text is no `next` of this list. */
function placeIn(text: string): [kind: number, place: Place] {
  try {
    const [kind, owner, created_at, id] = cursor.parse(JSON.parse(text));
    return [kind, { owner, created_at, id }];
  } catch {
    throw new InputError(['after'], said('page-unknown'));
  }
}

function shownApiKey(key: ApiKeyRecord): ListedKey {
  const { secret_hash: _, ...shown } = key;
  return shown;
}

const shownPublicKey = ({
  id,
  owner,
  scheme,
  name,
  created_at,
  used_at,
}: PublicKeyRecord): ListedKey => ({
  id,
  application: owner.id,
  scheme,
  name,
  created_at,
  ...(used_at !== undefined && { used_at }),
});
