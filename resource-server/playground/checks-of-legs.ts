import type { Check } from '#shared/explain/checks.ts';
import type { Exchange } from './exchange.ts';
import { hasCredentials, readRecorded, type Recorded } from './recorded.ts';
import type { Leg } from './run.ts';

/** The means of a server that do not stand in the messages. */
export type ServerMeans = Pick<Recorded, 'tokens' | 'clock' | 'apiKey' | 'url'>;

/**
 * Returns for each leg what the server of the space checks of its request, in order. Undefined: the request goes to
 * another server, or has no credentials, or the exchange has no list.
 */
export async function checksOfLegs(
  { checks }: Pick<Exchange, 'checks'>,
  legs: readonly Leg[],
  means: ServerMeans,
): Promise<readonly (readonly Check[] | undefined)[]> {
  const read = legs.map(({ to, sent, received }) => ({
    to,
    asked: readRecorded(sent),
    answer: readRecorded(received),
  }));
  return Promise.all(
    read.map(async ({ to, asked }, at) => {
      if (checks === undefined || to !== undefined || !hasCredentials(asked)) return undefined;
      return checks({ ...means, asked, earlier: read.slice(0, at) });
    }),
  );
}
