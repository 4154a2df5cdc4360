import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { longest } from './test/longest.ts'

const place = ({ moduleId }: TestSpecification): number => {
  const index = longest.indexOf(relative(import.meta.dirname, moduleId))
  return index === -1 ? longest.length : index
}

/** The longest first, all others as usual: also where no earlier run has left its times, as in a new clone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    // Tests wait for most of their time, for processes and for databases: three keep two cores busy.
    maxWorkers: 3,
    // Each worker loads the modules once for all of its files: a third of the time of the suite went into loading them.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
