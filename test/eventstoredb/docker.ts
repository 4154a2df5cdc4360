import { existsSync } from 'node:fs'
import { request, type RequestOptions } from 'node:http'
import { homedir } from 'node:os'

const sockets = [
  '/var/run/docker.sock',
  `${homedir()}/.docker/run/docker.sock`,
  `${homedir()}/.docker/desktop/docker.sock`,
]

/** Whether a Docker daemon answers. Where there is none, that is known at once. */
export const dockerAnswers = async (): Promise<boolean> => {
  const answers = await Promise.all(daemons().map(ping))
  return answers.includes(true)
}

const daemons = (): RequestOptions[] => {
  const given = process.env['DOCKER_HOST']
  const runtime = process.env['XDG_RUNTIME_DIR']
  if (given?.startsWith('tcp://')) {
    const { hostname, port } = new URL(given)
    return [{ hostname, port }]
  }
  const paths = given ? [given.replace(/^unix:\/\//, '')] : runtime ? [...sockets, `${runtime}/docker.sock`] : sockets
  return paths.filter((path) => existsSync(path)).map((socketPath) => ({ socketPath }))
}

const ping = (daemon: RequestOptions) =>
  new Promise<boolean>((resolve) => {
    const asking = request({ ...daemon, path: '/_ping', timeout: 1_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asking.on('timeout', () => asking.destroy())
    asking.on('error', () => resolve(false))
    asking.end()
  })
