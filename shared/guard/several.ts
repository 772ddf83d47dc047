import cluster from 'node:cluster';

/** Variables that process managers set for each of several processes that they start. */
const SIGNS: Readonly<Record<string, (value: string) => boolean>> = {
  NODE_APP_INSTANCE: () => true,
  WEB_CONCURRENCY: (value) => Number(value) > 1,
  KUBERNETES_SERVICE_HOST: () => true,
};

/** Returns the sign that other processes serve the same API; undefined if there is none. */
export function signOfSeveral(env: NodeJS.ProcessEnv): string | undefined {
  if (cluster.isWorker) return 'a worker of node:cluster';
  return Object.entries(SIGNS).find(([name, isSign]) => {
    const value = env[name];
    return value !== undefined && isSign(value);
  })?.[0];
}
