import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitBefore, ownFolder } from './version-before.ts'

test('where there is no git history, npm run upgrade says so in one line and ends with a code of its own', async () => {
  const commit = await commitBefore()
  const env = { ...process.env, GIT_DIR: '/nowhere' }

  const ended = await new Promise((resolve) => {
    execFile(process.execPath, [join('test', 'upgrade', 'upgrade.ts')], { cwd: ownFolder, env }, (error, _, said) =>
      resolve({ code: error?.code, said }),
    )
  })

  expect(commit).toMatch(/^[0-9a-f]{40}$/)
  expect(ended).toEqual({
    code: 3,
    said: `The version before cannot be tried: there is no git history here with the commit ${commit}, which test/upgrade/from names\n`,
  })
})
