import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { isWithin } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import { randomId } from '#shared/base/random.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from './csrf.ts';

type Server = Pick<PagesServer, 'config' | 'master' | 'random' | 'clock' | 'stores'>;

interface Kind {
  /** The purpose of the seal, and the namespace of used tickets. */
  readonly name: string;
  /** Seconds for which a ticket is valid. */
  readonly life: number;
}

/** A ticket of a browser. Each id is used once. */
interface Ticket<Content> {
  readonly id: string;
  readonly at: number;
  readonly browser: string;
  readonly content: Content;
}

/** Tickets that a URL carries, each valid once and only in the browser for which it was made. */
export interface Tickets<Content> {
  make(ctx: Context, content: Content): string;
  /** Undefined: it is used, too old, of another browser, or not sealed by this server. It does not use the ticket up. */
  read(ctx: Context, ticket: string): Promise<Content | undefined>;
  /** Does the same as `read`, and uses the ticket up: of several callers exactly one gets the content. */
  use(ctx: Context, ticket: string): Promise<Content | undefined>;
}

/** The store keeps only used tickets, so visitors who leave cost no row. */
export function createTickets<Content>(server: Server, { name, life }: Kind): Tickets<Content> {
  const { master, random, clock, config, stores } = server;
  const { skew } = config.tokens;
  const { browserSecret, hasSecret } = createCsrf(server);

  function open(ctx: Context, sealed: string): Ticket<Content> | undefined {
    if (!hasSecret(ctx)) return undefined;
    try {
      const ticket = JSON.parse(unseal(master, name, sealed)) as Ticket<Content>;
      const isHere = sameText(ticket.browser, markOf(browserSecret(ctx)));
      return isHere && isWithin(clock, ticket.at, { life, skew }) ? ticket : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    make(ctx, content) {
      const ticket: Ticket<Content> = {
        id: randomId(random),
        at: clock.now(),
        browser: markOf(browserSecret(ctx)),
        content,
      };
      return seal(master, name, JSON.stringify(ticket), random);
    },

    async read(ctx, sealed) {
      const ticket = open(ctx, sealed);
      return ticket && !(await stores.replay.seen(name, ticket.id)) ? ticket.content : undefined;
    },

    async use(ctx, sealed) {
      const ticket = open(ctx, sealed);
      if (ticket === undefined) return undefined;
      // The clock may have been set back. The store remembers a used ticket for as long as it is valid.
      const isFirst = await stores.replay.unique(name, ticket.id, 2 * (life + skew));
      return isFirst ? ticket.content : undefined;
    },
  };
}

const markOf = (secret: string) => hash('sha256', secret, 'base64url');
