import { isLooks } from '#shared/stores/people/former-keys.ts';
import type { FormerName, WithPerson, WholePerson } from '#shared/stores/people/people.ts';
import { digestOf } from '../connection/digest.ts';
import type { Slots } from '../connection/slots.ts';

/** Something that finds a person. A search key may find several. */
export interface Thing {
  readonly kind: keyof typeof HELD;
  readonly value: string;
}

/** Returns whether something is that thing. */
export const isOf =
  (thing: Thing) =>
  ({ kind, value }: Thing): boolean =>
    kind === thing.kind && value === thing.value;

export interface Claim extends Thing {
  /** Whether nobody else may have it. */
  readonly alone: boolean;
  /** Whether it may be what somebody had until they were removed. */
  readonly former: FormerName;
}

/**
 * Where the slot of a person says that they have a thing: the key, and the command that looks there with its argument. Where
 * `owner` is set it replies with their id, else with anything but 0.
 */
const HELD = {
  name: { key: 'names', command: 'HGET', owner: true },
  alias: { key: 'aliases', command: 'HGET', owner: true },
  handle: { key: 'handles', command: 'HGET', owner: true },
  passkey: { key: 'passkeys', command: 'HEXISTS', owner: false },
  search: { key: 'people:search', command: 'ZSCORE', owner: false },
} as const;

/** Returns how a script asks in the slot of a person whether they have a thing. */
export function heldBy(id: string, { kind, value }: Thing, slot: string) {
  const { key, command, owner } = HELD[kind];
  const argument = kind === 'search' ? `${value}\0${id}` : value;
  return { key: `${slot}:${key}`, command, argument, expected: owner ? id : '' };
}

/** Characters of a digest that name a thing: 132 bits. Two things with the same would be taken for one, and be refused. */
const NAMED = 22;

/**
 * Returns where the claims to a thing are: a sorted set, which those whose digests begin alike share, since many small sets
 * take half the memory; and what the members of the thing begin with.
 */
export function placeOf(slots: Slots, digest: string) {
  return {
    key: `${slots.of(digest)}:claims:${digest.slice(1, 3)}`,
    start: `${digest.slice(3, NAMED)}\0`,
  };
}

/** Whether it is remembered by its digest that somebody had it who was removed. */
export const isRemembered = ({ kind, value }: Thing): boolean =>
  kind === 'name' || (kind === 'search' && isLooks(value));

/** Returns the digest of a thing. No name has the colon of a search key. */
export const digestOfThing = (thing: Thing): string =>
  digestOf(isRemembered(thing) ? thing.value : `${thing.kind}\0${thing.value}`);

/** Returns all that a person has with their record and verifiers. `verifierField`: of a verifier, with which its handle begins. */
export function thingsOf(
  { person, verifiers }: WholePerson,
  verifierField: (row: WholePerson['verifiers'][number]) => string,
): readonly Thing[] {
  const { name, aliases = [], search_keys = [] } = person;
  return [
    { kind: 'name', value: name },
    ...aliases.map((value) => ({ kind: 'alias', value }) as const),
    ...verifiers.flatMap((row) =>
      row.handle === undefined
        ? []
        : [{ kind: 'handle', value: verifierField(row) + row.handle } as const],
    ),
    ...[...new Set(search_keys)].map((value) => ({ kind: 'search', value }) as const),
  ];
}

/** Returns the claim of somebody who gets a thing. */
export function claimTo(thing: Thing, former: FormerName, { unshared }: WithPerson = {}): Claim {
  if (thing.kind === 'name') return { ...thing, alone: true, former };
  const isUnshared = thing.kind === 'search' && thing.value === unshared;
  const alone = thing.kind !== 'search' || isUnshared;
  return { ...thing, alone, former: isUnshared ? 'refused' : 'reused' };
}
