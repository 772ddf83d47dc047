/** @needs buildah mmdebstrap */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type TemporaryFolder, temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Packages of Debian whose files the build and the servers use. */
const DEBIAN =
  'base-files,base-passwd,bash,coreutils,dash,debianutils,findutils,grep,libatomic1,libstdc++6,sed';

const IMAGE = 'localhost/countersign';

/** The settings of an image, as an engine for containers reads them. */
export interface ImageSettings {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface Image {
  readonly settings: ImageSettings;
  /** The files of a container of it. */
  readonly files: string;
}

/**
 * Builds the image from the Dockerfile with buildah, in three steps. Its base is made here of packages of Debian, our
 * Node and npm, under the name that FROM has: registries of images need not be reached. It takes root, mounts and
 * namespaces.
 */
export class ImageBuild implements AsyncDisposable {
  readonly #folder: TemporaryFolder;

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  static async begin(): Promise<ImageBuild> {
    await run('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).catch(() => {
      throw new Error('An image is built as root, with the right to mount: run this test there.');
    });
    // Too much for the memory.
    return new ImageBuild(await temporaryFolder('/var/tmp'));
  }

  async base(): Promise<void> {
    const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
    const [, name = ''] = /^FROM (\S+) AS build$/m.exec(dockerfile) ?? [];
    const [tar, node] = [this.#path('base.tar'), this.#path('node')];
    const debian = ['--variant=extract', `--include=${DEBIAN}`, 'bookworm', tar];
    await run('mmdebstrap', ['--quiet', ...debian]);
    await likeNodeImage(node);
    const scratch = await this.#buildah('from', 'scratch');
    await this.#buildah('add', '--quiet', scratch, tar, '/');
    await this.#buildah('add', '--quiet', scratch, node, '/');
    const path = 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
    await this.#buildah('config', '--env', path, scratch);
    await this.#buildah('commit', '--quiet', '--rm', scratch, name);
  }

  async image(): Promise<void> {
    const npmrc = this.#path('npmrc');
    const { settings, mounts } = await npmHere();
    await writeFile(npmrc, settings);
    const how = ['--quiet', '--isolation', 'chroot', '--format', 'docker', '--pull-never'];
    const volumes = [...mounts, `${npmrc}:/root/.npmrc:ro`].flatMap((one) => ['--volume', one]);
    await this.#buildah('build', ...how, ...volumes, '--tag', IMAGE, ROOT);
  }

  async container(): Promise<Image> {
    const inspected = await this.#buildah('inspect', '--type', 'image', IMAGE);
    const { Docker } = JSON.parse(inspected) as { Docker: { config: ImageSettings } };
    const container = await this.#buildah('from', '--pull-never', IMAGE);
    return { settings: Docker.config, files: await this.#buildah('mount', container) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A mount would keep the folder.
    await this.#buildah('umount', '--all').catch(() => undefined);
    await this.#folder[Symbol.asyncDispose]();
  }

  async #buildah(...args: readonly string[]): Promise<string> {
    const places = ['--root', this.#path('storage'), '--runroot', this.#path('run')];
    const { stdout } = await run('buildah', [...places, '--storage-driver', 'vfs', ...args], {
      env: { ...process.env, TMPDIR: this.#folder.path },
    });
    return stdout.trim();
  }

  #path(name: string): string {
    return join(this.#folder.path, name);
  }
}

/** Writes the parts of the base that are not from Debian: Node, npm, and the user `node`. */
async function likeNodeImage(folder: string): Promise<void> {
  const local = join(folder, 'usr/local');
  const npm = dirname(dirname(process.env['npm_execpath'] ?? ''));
  for (const path of ['bin', 'lib/node_modules'])
    await mkdir(join(local, path), { recursive: true });
  await cp(process.execPath, join(local, 'bin/node'));
  await cp(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  await mkdir(join(folder, 'etc'));
  const users = 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n';
  await writeFile(join(folder, 'etc/passwd'), users);
  await writeFile(join(folder, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
}

/** How npm reaches its registry here, for the build alone, and the packages that it has had already. */
async function npmHere() {
  const setting = async (name: string) => {
    const { stdout } = await run('npm', ['config', 'get', name], { cwd: ROOT });
    return stdout.trim();
  };
  const [registry, cafile, cache] = await Promise.all(['registry', 'cafile', 'cache'].map(setting));
  const own = cafile === undefined || cafile === 'null' ? [] : [cafile];
  return {
    settings: [
      `registry=${registry}`,
      ...own.map(() => 'cafile=/run/authorities.pem'),
      'cache=/var/cache/npm',
      'prefer-offline=true',
      'update-notifier=false',
    ].join('\n'),
    mounts: [...own.map((file) => `${file}:/run/authorities.pem:ro`), `${cache}:/var/cache/npm`],
  };
}
