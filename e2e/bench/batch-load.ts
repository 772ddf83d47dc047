import type { Server } from './cpu.ts';
import type { Contender } from './measure.ts';
import type { HttpRequest, Load } from './requests.ts';

/** A process that verifies the signatures of a batch of requests (`targets/bare-verifier.ts`). */
export interface BatchContender {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
  /** A request that the process must refuse. */
  forged(): HttpRequest;
}

/** Makes the process verify each request of a batch once. The process reads the batch before the run. */
export function overBatches({ name, server, load, forged }: BatchContender): Contender {
  async function ask(method: 'PUT' | 'POST', content?: readonly HttpRequest[]): Promise<number> {
    const body = content && JSON.stringify(content);
    const answer = await fetch(server.url, { method, ...(body !== undefined && { body }) });
    if (answer.status !== 200) throw new Error(`${name} answered ${await answer.text()}`);
    return ((await answer.json()) as { right: number }).right;
  }

  return {
    name,
    server,
    async probe() {
      const [request] = await load.take(1);
      if (request === undefined) throw new Error(`${name} has nothing to verify`);
      await ask('PUT', [request, forged(), request]);
      const right = await ask('POST');
      if (right !== 2) throw new Error(`${name} takes ${right} of two right and a forged one`);
    },
    async prepare(seconds) {
      const requests = await load.take(seconds);
      await ask('PUT', requests);
      return async () => {
        const began = performance.now();
        const count = await ask('POST');
        const took = (performance.now() - began) / 1000;
        return { count, seconds: took, errors: requests.length - count };
      };
    },
  };
}
