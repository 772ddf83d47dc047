import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { request } from 'undici';
import { parse, parseAllDocuments } from 'yaml';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { productionMistakes } from '#shared/config/production.ts';
import { examples } from '../pair/examples.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { NODE, startProcess, until } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

/** The manifests of docs/how-to/kubernetes, checked against Kubernetes's schemas and against our image. */
const FOLDER = fileURLToPath(new URL('../../docs/how-to/kubernetes/', import.meta.url));
const DOCKERFILE = fileURLToPath(new URL('../../Dockerfile', import.meta.url));
/** The user id of `node` in Node's images. */
const NODE_USER = 1000;
/** Seconds for requests in flight after `server.drain`. */
const GRACE = 10;

const KINDS: Readonly<
  Record<string, new (data: never) => { readonly kind: string; validate(): void }>
> = {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  StatefulSet,
};

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

interface Container {
  readonly name: string;
  readonly args: readonly [string, string];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly podSelector: { readonly matchLabels: object };
    readonly selector: object & { readonly matchLabels: object };
    readonly ports: readonly { readonly port: number; readonly targetPort: number }[];
    readonly ingress: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly enableServiceLinks?: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

/** All manifests in the kustomization of a shape. */
async function manifestsOf(shape: string): Promise<readonly Manifest[]> {
  const read = (file: string) => readFile(join(FOLDER, shape, file), 'utf8');
  const { resources } = parse(await read('kustomization.yaml')) as { resources: string[] };
  const files = await readdir(join(FOLDER, shape));
  expect(new Set(['kustomization.yaml', ...resources])).toEqual(new Set(files));
  const texts = await Promise.all(resources.map(read));
  return texts.flatMap((text) => parseAllDocuments(text).map((each) => each.toJS() as Manifest));
}

/** The variables that Kubernetes sets in each pod for each service, unless the pod turns them off. */
const serviceLinks = (manifests: readonly Manifest[]) =>
  Object.fromEntries(
    manifests
      .filter(({ kind }) => kind === 'Service')
      .flatMap(({ metadata, spec }) => {
        const name = metadata.name.toUpperCase().replaceAll('-', '_');
        const [port] = spec.ports.map((each) => each.port);
        return [
          [`${name}_SERVICE_HOST`, '10.0.0.1'],
          [`${name}_PORT`, `tcp://10.0.0.1:${port}`],
        ];
      }),
  );

describe.each(['postgres', 'sqlite'])('the Kubernetes manifests of %s', (shape) => {
  const workloads = async () =>
    (await manifestsOf(shape)).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));

  test('are valid by the schemas of their kinds', async () => {
    const manifests = await manifestsOf(shape);
    expect(manifests.length).toBeGreaterThan(4);
    for (const manifest of manifests) {
      const Kind = KINDS[manifest.kind];
      expect([manifest.kind, Kind]).toEqual([manifest.kind, expect.any(Function)]);
      expect(() => new Kind!(manifest as never).validate()).not.toThrow();
    }
    const [workload] = await workloads();
    const wrong = { ...workload, spec: { ...workload?.spec, replicas: 'two' } };
    expect(() => new KINDS[workload!.kind]!(wrong as never).validate()).toThrow('replicas');
  });

  test("run as the image's user, in its data folder, and can write nowhere else", async () => {
    const dockerfile = await readFile(DOCKERFILE, 'utf8');
    expect(dockerfile).toMatch(/^USER node$/m);
    const [, data] = /^ENV COUNTERSIGN_DATA=(\S+)/m.exec(dockerfile) ?? [];
    const [, command] = /^CMD (.+)$/m.exec(dockerfile) ?? [];
    const start = JSON.parse(command ?? '') as readonly string[];
    for (const { spec } of await workloads()) {
      const { containers, volumes, securityContext } = spec.template.spec;
      const owner = { runAsUser: NODE_USER, runAsGroup: NODE_USER, fsGroup: NODE_USER };
      expect(securityContext).toMatchObject({ runAsNonRoot: true, ...owner });
      const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
      const there = [...volumes.map(({ name }) => name), ...claimed];
      for (const container of containers) {
        expect(container.args).toEqual([...start, container.name]);
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const mounts = new Map(container.volumeMounts.map((mount) => [mount.mountPath, mount]));
        expect(new Set(mounts.keys())).toEqual(
          new Set([data, '/etc/countersign', '/run/secrets/countersign', '/tmp']),
        );
        for (const { name } of mounts.values()) expect(there).toContain(name);
      }
    }
  });

  test('use consistent port names and existing pods, and allow enough time for a shutdown', async () => {
    const manifests = await manifestsOf(shape);
    const configMap = manifests.find(({ kind }) => kind === 'ConfigMap');
    const text = configMap?.data?.['countersign.json'] ?? '';
    const config = configSchema.parse(JSON.parse(text));
    const secret = { COUNTERSIGN_SECRET_FILE: '/run/secrets/countersign/secret' };
    expect(productionMistakes(config, secret)).toEqual([]);
    const [told = ''] = await examples('docs/how-to/kubernetes.md', 'json kubernetes');
    expect(JSON.parse(text)).toMatchObject(JSON.parse(told) as object);
    const { authz, resource } = config.listen;
    const ports: Readonly<Record<string, number>> = { authz: authz.port, resource: resource.port };
    const all = await workloads();
    const pods = all.map(({ spec }) => spec.template);
    for (const { spec } of pods) {
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(config.server.drain! + GRACE);
      for (const container of spec.containers) {
        const port = ports[container.name];
        expect(container.ports).toEqual([expect.objectContaining({ containerPort: port })]);
        for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
          expect(container[probe].httpGet.port).toBe(port);
        }
      }
    }
    const open = (labels: object) =>
      pods
        .filter(({ metadata }) => {
          const has = new Map(Object.entries(metadata.labels));
          return Object.entries(labels).every(([name, value]) => has.get(name) === value);
        })
        .flatMap(({ spec }) => spec.containers.map(({ name }) => ports[name]))
        .toSorted((a = 0, b = 0) => a - b);
    const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
    for (const { spec } of of('Service')) {
      expect(spec.ports.map(({ targetPort }) => targetPort)).toEqual(open(spec.selector));
      expect(spec.ports.every(({ port, targetPort }) => port === targetPort)).toBe(true);
    }
    for (const { spec } of of('NetworkPolicy')) {
      const admitted = spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port));
      expect(admitted).toEqual(open(spec.podSelector.matchLabels));
    }
    for (const { spec } of of('PodDisruptionBudget')) {
      expect(open(spec.selector.matchLabels)).not.toEqual([]);
    }
    for (const kind of ['NetworkPolicy', 'PodDisruptionBudget']) {
      expect(of(kind)).toHaveLength(all.length);
    }
    // The host of the keys' URL: one of these Services, or the pod itself.
    const { hostname, port, pathname } = new URL(config.jwks?.url ?? '');
    const services = of('Service').map(({ metadata }) => metadata.name);
    expect([...services, '127.0.0.1']).toContain(hostname);
    expect([Number(port), pathname]).toEqual([authz.port, '/jwks']);
  });

  test("start the servers, and every probe gets an answer at the pod's address", async () => {
    const manifests = await manifestsOf(shape);
    const configMap = manifests.find(({ kind }) => kind === 'ConfigMap');
    const config = JSON.parse(configMap?.data?.['countersign.json'] ?? '') as {
      listen: Record<string, object>;
    };
    const folder = parts.use(await temporaryFolder());
    const data = join(folder.path, 'data');
    await mkdir(data);
    const secret = join(folder.path, 'secret');
    await writeFile(secret, 'a master secret of thirty-two bytes', { mode: 0o400 });
    const shared = shape === 'postgres' ? parts.use(await startSharedStore()) : undefined;
    const pods = (await workloads()).map(({ spec }) => spec.template.spec);
    const containers = pods.flatMap((pod) => pod.containers);
    const links = pods.every(({ enableServiceLinks }) => enableServiceLinks === false)
      ? {}
      : serviceLinks(manifests);
    expect(containers.map(({ name }) => name)).toEqual(['authz', 'resource']);
    const ports = new Map<string, number>();
    for (const { name } of containers) ports.set(name, await freePort());
    const listen = Object.fromEntries(
      [...ports].map(([name, port]) => [name, { host: '127.0.0.1', port }]),
    );
    const file = join(folder.path, 'countersign.json');
    const jwks = { url: `http://127.0.0.1:${ports.get('authz')}/jwks` };
    await writeFile(file, JSON.stringify({ ...config, listen, jwks, data }));
    const given: Readonly<Record<string, string | undefined>> = {
      COUNTERSIGN_CONFIG: file,
      COUNTERSIGN_SECRET_FILE: secret,
      COUNTERSIGN_POSTGRES_URL: shared?.postgres.url,
      COUNTERSIGN_REDIS_URL: shared?.redis.url,
    };
    for (const container of containers) {
      const port = ports.get(container.name);
      const asked = async ({ path }: { readonly path: string }, host: string) =>
        (await request(`http://127.0.0.1:${port}${path}`, { headers: { host } })).statusCode;
      const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
      const [, part] = container.args;
      const main = entryFile('shared/start/main.js');
      const process = await startProcess(globalThis.process.execPath, [main, part], {
        env: {
          ...NODE,
          ...links,
          ...Object.fromEntries(
            container.env.map(({ name, value }) => [name, given[name] ?? value]),
          ),
        },
        ready: async () => (await asked(container.startupProbe.httpGet, '10.1.2.3')) === 200,
      });
      parts.use(process);
      expect(process.output).not.toContain('environment.unknown');
      for (const { httpGet } of probes) {
        await until(async () => (await asked(httpGet, `10.1.2.3:${port}`)) === 200);
      }
    }
  });
});
