import { connect } from './connect.ts';
import { DEADLINE, within } from './within.ts';

/**
 * The URL of the master that more than half of the sentinels name: one that was cut off from the
 * others during a failover is outvoted. User, password, database and TLS are those of the first of
 * `urls`; sentinels without a password accept them all the same.
 */
export async function masterBySentinels(
  urls: readonly string[],
  name: string,
  deadline = DEADLINE,
): Promise<string> {
  const answers = Promise.withResolvers<string>();
  const votes = new Map<string, number>();
  const asked = urls.map(async (url) => {
    const [host, port] = await ask(url, name, deadline);
    const master = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const count = (votes.get(master) ?? 0) + 1;
    votes.set(master, count);
    if (count > urls.length / 2) answers.resolve(master);
  });
  void Promise.allSettled(asked).then(() =>
    answers.reject(new Error('no majority of the sentinels names a master')),
  );
  const master = new URL(urls[0] ?? '');
  master.host = await answers.promise;
  return master.href;
}

async function ask(
  url: string,
  name: string,
  deadline: number,
): Promise<[host: string, port: string]> {
  const life = new AbortController();
  const sentinel = new URL(url);
  sentinel.pathname = '';
  try {
    return await within(
      deadline,
      connect(sentinel.href, life.signal).then((client) =>
        client.sendCommand<[string, string]>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
      ),
    );
  } finally {
    life.abort();
  }
}
