import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import { passwordMark } from './password-mark.ts';
import type { Artefacts } from '#shared/stores/oauth/artefacts.ts';
import type { People } from '#shared/stores/people/people.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';

/** Links that each give a right to their holder, once. */
export interface OneTimeLinks<Right> {
  /** Returns the secret of a new link, valid for `life` seconds, which replaces the last link of that owner. */
  make(right: Right, life: number): Promise<string>;
  /**
   * Finds the right of a link. Returns undefined if the secret is unknown, used, replaced or too old. It returns
   * undefined, too, if since then the person's password was changed, all their access was ended, or the store was
   * restored. It does not use the secret up.
   */
  find(secret: string): Promise<Right | undefined>;
  /** Does the same as `find`, and uses the secret up: of several callers exactly one gets the right. */
  redeem(secret: string): Promise<Right | undefined>;
  /** Returns the right of the last link of this owner. Undefined: it is used, too old or void. */
  last(owner: string): Promise<Right | undefined>;
  /** Whether the owner of this right has a link that is neither used nor too old. */
  has(right: Right): Promise<boolean>;
  /** Ends the link of this owner. */
  end(owner: string): Promise<void>;
}

export interface OneTimeLinksOptions {
  readonly stores: {
    readonly artefacts: Pick<Artefacts, 'get' | 'put' | 'getByUid' | 'replace' | 'remove'>;
    readonly revocations: Pick<Revocations, 'generation'>;
    readonly people: Pick<People, 'get'>;
  };
  readonly random: Random;
}

/** A kind of link. */
interface LinkKind<Right> {
  /** The prefix of the ids of its records. */
  readonly name: string;
  /** Returns the owner's name: only the owner's last link is valid. */
  owner(right: Right): string;
  /** Returns the id of the link's person; undefined for a person without an account. */
  person(right: Right): string | undefined;
}

/**
 * The last link of an owner, stored as an artefact: its mail may wait for a day, and a restore ends all artefacts.
 */
type Kept<Right> = Right & {
  /** A hash of the secret, so that the store has no secrets. */
  readonly uid: string;
  /** The person's generation; raising it ends their links, too. */
  readonly generation: number;
  /** The mark of the person's password; a new password ends their links, too. */
  readonly password: string;
};

/** An id that no person has, for links without a person. */
const NOBODY = '(nobody)';

const KIND = 'Link';

/** Least seconds for which a record without a right is kept. */
const SOON = 1;

export function createOneTimeLinks<Right extends object>(
  { stores, random }: OneTimeLinksOptions,
  { name, owner, person }: LinkKind<Right>,
): OneTimeLinks<Right> {
  const { artefacts, revocations, people } = stores;
  const uidOf = (secret: string) => `${name}:${hash('sha256', secret, 'base64url')}`;
  const idOfOwner = (one: string) => `${name} ${one}`;
  const idOf = (right: Right) => idOfOwner(owner(right));
  const generationOf = (right: Right) => revocations.generation('person', person(right) ?? NOBODY);
  const markOf = async (right: Right) =>
    passwordMark((await people.get(person(right) ?? NOBODY)) ?? {});

  const keptOf = async (secret: string) =>
    (await artefacts.getByUid(KIND, uidOf(secret))) as Kept<Right> | undefined;

  async function valid(kept: Kept<Right>): Promise<Right | undefined> {
    const { uid: _, generation, password, ...rest } = kept;
    const right = rest as unknown as Right;
    const [now, mark] = await Promise.all([generationOf(right), markOf(right)]);
    return generation === now && password === mark ? right : undefined;
  }

  return {
    async make(right, seconds) {
      const secret = randomId(random);
      const [generation, password] = await Promise.all([generationOf(right), markOf(right)]);
      const payload = { ...right, uid: uidOf(secret), generation, password };
      await artefacts.put({ kind: KIND, id: idOf(right), payload, seconds });
      return secret;
    },

    async find(secret) {
      const kept = await keptOf(secret);
      return kept && valid(kept);
    },

    async redeem(secret) {
      const kept = await keptOf(secret);
      if (kept === undefined) return undefined;
      const used = { kind: KIND, id: idOf(kept), payload: {}, seconds: SOON };
      return (await artefacts.replace(used, kept)) ? valid(kept) : undefined;
    },

    async last(one) {
      const kept = (await artefacts.get(KIND, idOfOwner(one))) as Kept<Right> | undefined;
      return kept?.uid === undefined ? undefined : valid(kept);
    },
    has: async (right) => (await artefacts.get(KIND, idOf(right)))?.['uid'] !== undefined,
    end: (one) => artefacts.remove(KIND, idOfOwner(one)),
  };
}
