import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

type Shown = { readonly command: string; readonly parent: number }

/** As Linux shows a process: `4711 (sh) S 4710 …`. */
export const shownByLinux = (pid: number): Shown | undefined => {
  try {
    const [, command, parent] = /^\d+ \((.+)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return command === undefined ? undefined : { command, parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** As `ps` shows it, which macOS and the BSDs have: `4710 /bin/sh`. Undefined where there is none. */
export const shownByPs = (pid: number): Shown | undefined => {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8', timeout: 1_000 })
  const [, parent, command] = /^\s*(\d+)\s+(\S.*?)\s*$/.exec(String(stdout)) ?? []
  return command === undefined ? undefined : { command, parent: Number(parent) }
}

const shown = process.platform === 'linux' ? shownByLinux : shownByPs

/** The parent of a shell, which npm may have put between itself and its program; undefined for any other process. */
export const parentOfShell = (pid: number, show = shown): number | undefined => {
  const { command = '', parent } = show(pid) ?? {}
  return /^-?(.*\/)?(ba|da|a|z)?sh$/.test(command) ? parent : undefined
}

/** The interval between looks for it: `ps` is a process of its own each time. */
export const lookForParentMs = process.platform === 'linux' ? 500 : 5_000
