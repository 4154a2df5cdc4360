import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { parentOfShell, shownByLinux, shownByPs } from '#infra/shell-parent.ts'

const ways = { ps: shownByPs, ...(process.platform === 'linux' && { Linux: shownByLinux }) }

test.each(Object.entries(ways))(
  'the parent of a shell is found through %s, and that of no other process',
  async (_, show) => {
    const shell = spawn('sh', ['-c', 'echo started; read -r _; true'], { stdio: ['pipe', 'pipe', 'ignore'] })
    const ended = once(shell, 'exit')
    await once(shell.stdout, 'data')

    expect(parentOfShell(shell.pid ?? 0, show)).toBe(process.pid)
    expect(parentOfShell(process.pid, show)).toBeUndefined()

    shell.stdin.end('\n')
    await ended
    expect(parentOfShell(shell.pid ?? 0, show)).toBeUndefined()
  },
)
