import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import { passwordMark } from './password-mark.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { People } from '#shared/stores/people/people.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';

/** Links that each give a right to their holder, once. */
export interface OneTimeLinks<Right> {
  /** Returns the secret of a new link, good for `life` seconds, which takes the place of the last one of that owner. */
  make(right: Right, life: number): Promise<string>;
  /**
   * Undefined: the secret is unknown, used, replaced or too old; or the person's password was changed, everything of theirs
   * ended, or the store was restored, since. Uses nothing up.
   */
  find(secret: string): Promise<Right | undefined>;
  /** Does the same, and uses the secret up: of several callers exactly one gets it. */
  redeem(secret: string): Promise<Right | undefined>;
}

export interface OneTimeLinksOptions {
  readonly stores: {
    readonly sessions: Pick<Sessions, 'put' | 'get' | 'take'>;
    readonly revocations: Pick<Revocations, 'generation' | 'epoch'>;
    readonly people: Pick<People, 'get'>;
  };
  readonly random: Random;
}

/** A kind of link. */
interface LinkKind<Right> {
  /** The ids of its records begin with it. */
  readonly name: string;
  /** Names whose link it is: the last one is good. */
  owner(right: Right): string;
  /** The id of the person whose link it is; undefined: somebody without an account. */
  person(right: Right): string | undefined;
}

/** The record behind the secret of a link. */
type Kept<Right> = Right & {
  /** The person's generation, so that raising it ends their links, too. */
  readonly generation: number;
  /** The mark of the person's password, so that any new one ends their links, too. */
  readonly password: string;
  /**
   * The epoch of the store: a restored one has generations and passwords of before, and links that were ended since
   * would be good again.
   */
  readonly epoch: string;
};

/** An id that nobody has: of links that are for no person yet. */
const NOBODY = '(nobody)';

export function createOneTimeLinks<Right extends object>(
  { stores, random }: OneTimeLinksOptions,
  { name, owner, person }: LinkKind<Right>,
): OneTimeLinks<Right> {
  const { sessions, revocations, people } = stores;
  /** The id of the record of a secret: a hash, so that the store has no secrets. */
  const idOf = (secret: string) => `${name}:${hash('sha256', secret, 'base64url')}`;
  const lastOf = (right: Right) => `${name} ${owner(right)}`;
  const generationOf = (right: Right) => revocations.generation('person', person(right) ?? NOBODY);
  const markOf = async (right: Right) =>
    passwordMark((await people.get(person(right) ?? NOBODY)) ?? {});

  async function valid(id: string, value: unknown): Promise<Right | undefined> {
    if (value === undefined) return undefined;
    const kept = value as Kept<Right>;
    const { generation, password, epoch, ...rest } = kept;
    const right = rest as unknown as Right;
    const [last, now, mark, current] = await Promise.all([
      sessions.get(lastOf(right)),
      generationOf(right),
      markOf(right),
      revocations.epoch(false),
    ]);
    const isOfPerson = generation === now && password === mark;
    return last === id && epoch === current && isOfPerson ? right : undefined;
  }

  return {
    async make(right, life) {
      const secret = randomId(random);
      const [generation, password, epoch] = await Promise.all([
        generationOf(right),
        markOf(right),
        // A link may be the first that a store has to remember, as on a command line before the first start.
        revocations.epoch(true),
      ]);
      const kept = { ...right, generation, password, epoch };
      await sessions.put(kept, life, idOf(secret));
      await sessions.put(idOf(secret), life, lastOf(right));
      return secret;
    },

    find: async (secret) => valid(idOf(secret), await sessions.get(idOf(secret))),
    redeem: async (secret) => valid(idOf(secret), await sessions.take(idOf(secret))),
  };
}
