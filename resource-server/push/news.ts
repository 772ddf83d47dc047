import { setTimeout as delay } from 'node:timers/promises';
import type { Push } from '#shared/stores/push/push.ts';

/** Milliseconds between two looks at what other processes have done. */
const LOOK = 250;

type Bell = () => void;

/** Wakes those who wait for something to happen to a subscription or receipt subscription, in whichever process. */
export interface News {
  /** Calls `bell` whenever something happens to `id`. Returns a function that ends that. */
  listen(id: string, bell: Bell): () => void;
  /** Tells of something that this process has done. */
  tell(id: string): void;
}

/** The store is asked only while somebody listens. After it was silent, everybody is woken. */
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
        position = undefined; // the store is silent: news may be forgotten before it answers
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
