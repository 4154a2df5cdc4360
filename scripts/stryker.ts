import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner'

/** The mutation tests' additions to StrykerJS: `mutate.ts` names this file. */

type SyntaxPath = {
  readonly node: { readonly type: string; readonly callee?: { readonly property?: { readonly name?: string } } }
}

const documenting = new Set(['describe', 'meta'])

/** Leaves out texts that only the OpenAPI document shows: they decide nothing. */
const documentation = {
  shouldIgnore: ({ node }: SyntaxPath): string | undefined =>
    node.type === 'CallExpression' && documenting.has(node.callee?.property?.name ?? '')
      ? 'Documents a schema.'
      : undefined,
}

type TestFile = {
  readonly filepath: string
  readonly tasks: readonly unknown[]
  readonly result?: { readonly state: string; readonly errors?: readonly { readonly message: string }[] }
}
type TestResult = { id: string; name: string; timeSpentMs: number; status: number; failureMessage: string }
type Runner = {
  readonly ctx: { readonly state: { readonly getFiles: () => readonly TestFile[] } }
  run: (options: object) => Promise<{ readonly tests?: TestResult[] }>
}

// The plugin's types say nothing of what its runner is made of.
const { factory } = vitestPlugins[0] as unknown as {
  factory: ((injector: unknown) => Runner) & { inject: readonly string[] }
}
const failed = 1

/**
 * Runs vitest as the plugin of StrykerJS does, and counts a test file that cannot be loaded as a failed test. The plugin
 * looks at tests only, so a change that breaks what a file does before its first test would count as unnoticed.
 */
const makeRunner = (injector: unknown): Runner => {
  const runner = factory(injector)
  const run = runner.run.bind(runner)
  runner.run = async (options) => {
    const result = await run(options)
    for (const { filepath, tasks, result: loading } of runner.ctx.state.getFiles())
      if (tasks.length === 0 && loading?.state === 'fail')
        result.tests?.push({
          id: filepath,
          name: filepath,
          timeSpentMs: 0,
          status: failed,
          failureMessage: loading.errors?.[0]?.message ?? 'The file cannot be loaded.',
        })
    return result
  }
  return runner
}

export const strykerPlugins = [
  { kind: 'Ignore', name: 'documentation', value: documentation },
  {
    kind: 'TestRunner',
    name: 'vitest-with-loading',
    factory: Object.assign(makeRunner, { inject: factory.inject }),
  },
]
