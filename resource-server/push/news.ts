import { setTimeout as delay } from 'node:timers/promises';
import type { Push } from '#shared/stores/push/push.ts';

/** Milliseconds between two reads of the changes by other processes. */
const LOOK = 250;

type Bell = () => void;

/** Wakes clients that wait for a change of a subscription or receipt subscription, in any process. */
export interface News {
  /** Calls `bell` at each change of `id`. Returns a function that stops this. */
  listen(id: string, bell: Bell): () => void;
  /** Reports a change that this process has made. */
  tell(id: string): void;
}

/** The store is read only while a client listens. After an outage all clients are woken. */
export function createNews(push: Pick<Push, 'news'>): News {
  const bells = new Map<string, Set<Bell>>();
  let following = false;

  const ring = (id: string) => bells.get(id)?.forEach((bell) => bell());

  async function follow(): Promise<void> {
    let position: string | undefined;
    while (bells.size > 0) {
      await delay(LOOK);
      try {
        const news = await push.news([...bells.keys()], position);
        ({ position } = news);
        for (const id of news.of) ring(id);
      } catch {
        position = undefined; // changes during the outage may be deleted before the store answers again
      }
    }
    following = false;
  }

  return {
    listen(id, bell) {
      const own = bells.get(id) ?? new Set();
      bells.set(id, own.add(bell));
      if (!following) {
        following = true;
        void follow();
      }
      return () => {
        own.delete(bell);
        if (own.size === 0 && bells.get(id) === own) bells.delete(id);
      };
    },
    tell: ring,
  };
}
