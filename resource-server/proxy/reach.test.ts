import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { createDestinations } from '#shared/client/destinations/destinations.ts';
import { createReach } from './reach.ts';

const PRESENT = new AbortController().signal;

/** Makes a function that reaches destinations over a fake network, with a record of its look-ups and connections. */
function reaching(
  entries: readonly string[],
  answers: readonly (readonly string[])[],
  dial: (address: string, signal: AbortSignal) => Promise<Socket> = async () => new Socket(),
  patience = 1000,
) {
  const looked: string[] = [];
  const dialled: string[] = [];
  const network = {
    async resolve(name: string) {
      looked.push(name);
      const found = answers[looked.length - 1];
      if (found === undefined) throw new Error('ENOTFOUND');
      return found;
    },
    async dial(address: string, port: number, signal: AbortSignal) {
      dialled.push(`${address} ${port}`);
      return dial(address, signal);
    },
  };
  const reach = createReach(
    createDestinations(entries, () => []),
    network,
    patience,
  );
  return {
    reach: (host: string, port: number, signal = PRESENT) => reach({ host, port }, signal),
    looked,
    dialled,
  };
}

const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

test('a proxy connects only to the checked address, after a single look-up', async () => {
  const { reach, looked, dialled } = reaching(['public:80'], [['1.1.1.1'], ['127.0.0.1']]);
  await reach('a.example', 80);
  expect(looked).toEqual(['a.example']);
  expect(dialled).toEqual(['1.1.1.1 80']);
});

test('a name that resolves differently the second time is checked again', async () => {
  const { reach, dialled } = reaching(['public:80'], [['1.1.1.1'], ['127.0.0.1']]);
  await reach('a.example', 80);
  await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 403 });
  expect(dialled).toEqual(['1.1.1.1 80']);
});

test('a proxy connects only to the permitted addresses of a name', async () => {
  const found = [['127.0.0.1', '::ffff:127.0.0.1', '::1', '1.1.1.1', '10.0.0.1']];
  const { reach, dialled } = reaching(['public:80'], found);
  await reach('a.example', 80);
  expect(dialled).toEqual(['1.1.1.1 80']);
});

test.each([
  ['a port that no entry has', 'a.example', 25],
  ['another name', 'b.example', 8080],
])('%s is refused without a look-up', async (_, host, port) => {
  const { reach, looked, dialled } = reaching(['public:80', 'a.example:8080'], [['1.1.1.1']]);
  await expect(reach(host, port)).rejects.toMatchObject({ status: 403 });
  expect([looked, dialled]).toEqual([[], []]);
});

test('a proxy connects to a permitted address without a look-up', async () => {
  const { reach, looked, dialled } = reaching(['[::1]:80', '127.0.0.1:80'], []);
  await reach('::1', 80);
  await expect(reach('127.0.0.2', 80)).rejects.toMatchObject({ status: 403 });
  await expect(reach('::ffff:127.0.0.1', 80)).rejects.toMatchObject({ status: 403 });
  expect(looked).toEqual([]);
  expect(dialled).toEqual(['::1 80']);
});

test.each([[[]], [['127.0.0.1']], [['not an address']]])(
  'RFC 9110 section 15.5.4: a name without a permitted address is 403: %j',
  async (found) => {
    const { reach } = reaching(['public:80'], [found]);
    await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 403 });
  },
);

test('RFC 9110 section 15.6.3: a name that does not exist is 502', async () => {
  const { reach } = reaching(['public:80'], []);
  await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 502 });
});

test('a proxy tries the next address if one fails, and is 502 after the last', async () => {
  const refusing = async (address: string) => {
    if (address !== '3.3.3.3') throw new Error('ECONNREFUSED');
    return new Socket();
  };
  const found = [
    ['1.1.1.1', '3.3.3.3'],
    ['1.1.1.1', '2.2.2.2'],
  ];
  const { reach, dialled } = reaching(['public:80'], found, refusing);
  await reach('a.example', 80);
  await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 502 });
  expect(dialled).toEqual(['1.1.1.1 80', '3.3.3.3 80', '1.1.1.1 80', '2.2.2.2 80']);
});

test('a proxy tries at most four addresses of a name', async () => {
  const found = [Array.from({ length: 50 }, (_, index) => `1.1.1.${index}`)];
  const { reach, dialled } = reaching(['public:80'], found, () => Promise.reject(new Error('no')));
  await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 502 });
  expect(dialled).toHaveLength(4);
});

test('RFC 9110 section 15.6.5: a destination that does not answer in time is 504', async () => {
  const { reach } = reaching(['public:80'], [['1.1.1.1']], (_, signal) => never(signal), 10);
  await expect(reach('a.example', 80)).rejects.toMatchObject({ status: 504 });
});

test('RFC 9110 section 15.6.5: a name that is not resolved in time is 504', async () => {
  const network = { resolve: () => new Promise<never>(() => {}), dial: async () => new Socket() };
  const reach = createReach(
    createDestinations(['public:80'], () => []),
    network,
    10,
  );
  await expect(reach({ host: 'a.example', port: 80 }, PRESENT)).rejects.toMatchObject({
    status: 504,
  });
});

test.each(['ETIMEOUT', 'ECANCELLED'])(
  'RFC 9110 section 15.6.5: DNS servers that do not answer are 504: %s',
  async (code) => {
    const network = {
      resolve: () => Promise.reject(Object.assign(new Error(code), { code })),
      dial: async () => new Socket(),
    };
    const reach = createReach(
      createDestinations(['public:80'], () => []),
      network,
      1000,
    );
    await expect(reach({ host: 'a.example', port: 80 }, PRESENT)).rejects.toMatchObject({
      status: 504,
    });
  },
);

test('a proxy tries no more addresses once the client has left', async () => {
  const leaving = new AbortController();
  const { reach, dialled } = reaching(['public:80'], [['1.1.1.1', '2.2.2.2']], (_, signal) => {
    queueMicrotask(() => leaving.abort());
    return never(signal);
  });
  await expect(reach('a.example', 80, leaving.signal)).rejects.toThrow(/abort/i);
  expect(dialled).toEqual(['1.1.1.1 80']);
});

test('a proxy does not connect for a client that left during the look-up', async () => {
  const leaving = new AbortController();
  const { reach, dialled } = reaching(['public:80'], [['1.1.1.1']]);
  queueMicrotask(() => leaving.abort());
  await expect(reach('a.example', 80, leaving.signal)).rejects.toThrow(/abort/i);
  expect(dialled).toEqual([]);
});
