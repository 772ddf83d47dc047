import type { Declared, DeclaredThing } from '#shared/stores/declared/declared.ts';
import type { Commands } from '../connection/connection.ts';

/** The set `{prefix:declared}`, of the kind and the id with a space between. Only operators write it, and seldom. */
export function redisDeclared(redis: Commands, prefix: string): Declared {
  const key = `{${prefix}:declared}`;
  const member = ({ kind, id }: DeclaredThing) => `${kind} ${id}`;
  return {
    async add(thing) {
      await redis.durableCommand('SADD', key, member(thing));
    },
    async list() {
      const members = await redis.command<string[]>('SMEMBERS', key);
      return members.toSorted().map((text) => {
        const [kind = ''] = text.split(' ', 1);
        return { kind: kind as DeclaredThing['kind'], id: text.slice(kind.length + 1) };
      });
    },
    async remove(thing) {
      await redis.durableCommand('SREM', key, member(thing));
    },
  };
}
