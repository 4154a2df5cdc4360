import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

test.each(['docs/architecture.md', 'docs/changing.md', 'CONTRIBUTING.md'])(
  'every file that %s names is there',
  async (guide) => {
    const text = await readFile(join(root, guide), 'utf8')
    const named = [...text.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)+\/?)`/g)].flatMap(([, path]) => path ?? [])
    const absent = await Promise.all(
      [...new Set(named)].map(async (path) =>
        access(join(root, path)).then(
          () => [],
          () => [path],
        ),
      ),
    )

    expect(named.length).toBeGreaterThan(0)
    expect(absent.flat()).toEqual([])
  },
)
