import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { certificate, privateKey } from './certificate.ts'
import { client, listening, local, resolvingTo, saying, serverThat } from './guarded-http.ts'

describe('one deadline', () => {
  const timeoutMs = 200
  const tooLate = { outcome: 'unanswered', reason: 'no answer within 0.2 s' }
  const elapsed = async (work: Promise<unknown>) => {
    const startedAt = performance.now()
    await work
    return performance.now() - startedAt
  }

  test('is 15 seconds', async () => {
    const { timeoutMs: usual, close } = makeGuardedHttp({ allowedHosts: [], allowHttp: false })
    await close()

    expect(usual).toBe(15_000)
  })

  test('covers the name', async () => {
    await using http = client({ timeoutMs, lookup: () => new Promise(() => undefined) })

    const request = http.post('https://slow.example.com/')

    expect(await elapsed(request)).toBeLessThan(4 * timeoutMs)
    expect(await request).toEqual(tooLate)
  })

  test('covers TLS', async () => {
    await using receiver = await listening(createTcpServer(() => undefined))
    await using http = client({ ...local, timeoutMs })

    const request = http.post(`https://127.0.0.1:${receiver.port}/`)

    expect(await elapsed(request)).toBeLessThan(4 * timeoutMs)
    expect(await request).toEqual(tooLate)
  })

  test('covers the headers', async () => {
    await using receiver = await serverThat(() => undefined)
    await using http = client({ ...local, timeoutMs })

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toEqual(tooLate)
  })

  test('covers a body that drips; what was said before it counts', async () => {
    await using receiver = await serverThat((_request, response) => {
      response.writeHead(200)
      const dripping = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(dripping))
    })
    await using http = client({ ...local, timeoutMs })

    const request = http.post(`http://127.0.0.1:${receiver.port}/`)

    expect(await elapsed(request)).toBeLessThan(4 * timeoutMs)
    expect(await request).toMatchObject({ outcome: 'answered', status: 200 })
  })

  test('covers headers that drip', async () => {
    await using receiver = await listening(
      createTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const dripping = setInterval(() => socket.write('X-More: yes\r\n'), 20)
        socket.on('close', () => clearInterval(dripping))
      }),
    )
    await using http = client({ ...local, timeoutMs })

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toEqual(tooLate)
  })
})

describe('an answer', () => {
  test('is read up to 64 kB, and the rest is not waited for', async () => {
    let written = 0
    await using receiver = await serverThat((_request, response) => {
      response.writeHead(200)
      const pour = () => {
        while (!response.destroyed && written < 200e6) {
          written += 65536
          if (!response.write(Buffer.alloc(65536))) break
        }
      }
      response.on('drain', pour)
      pour()
    })
    await using http = client(local)

    const exchange = await http.post(`http://127.0.0.1:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'answered', status: 200 })
    expect(exchange.outcome === 'answered' && exchange.body.length).toBe(65536)
    expect(written).toBeLessThan(20e6)
  })

  test('is not decompressed, so that a small one cannot become a huge one', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    expect(bomb.length).toBeLessThan(65536)
    await using receiver = await serverThat((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    )
    await using http = client(local)

    const exchange = await http.post(`http://127.0.0.1:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'answered', body: bomb })
  })

  test('counts although its headers are as long as other servers and proxies let through', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 30 }, (_, number) => [`x-long-${number}`, 'x'.repeat(4_000)]),
    )
    await using receiver = await serverThat((_request, response) => response.writeHead(204, headers).end())
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'answered', status: 204 })
  })

  test('whose head is malformed is no answer, for a reason in words', async () => {
    await using receiver = await listening(createTcpServer((socket) => socket.write('HTTP/1.1 2xx Fine\r\n\r\n')))
    await using http = client(local)

    const exchange = await http.post(`http://127.0.0.1:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'unanswered', reason: saying('does not match the HTTP/1.1 protocol') })
    expect(exchange).toMatchObject({ reason: expect.not.stringContaining('undefined') as unknown })
  })

  test('with huge headers is no answer', async () => {
    await using receiver = await listening(
      createTcpServer((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(1_000_000)}\r\n\r\n`)
      }),
    )
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })
})

describe('TLS', () => {
  const secure = (answer: RequestListener) => listening(createTlsServer({ key: privateKey, cert: certificate }, answer))

  test('is spoken with the name that was asked for, at the address that was checked', async () => {
    const names: unknown[] = []
    await using receiver = await secure((request, response) => {
      names.push((request.socket as { servername?: string }).servername, request.headers.host)
      response.end()
    })
    await using http = client({ ...local, ...resolvingTo('127.0.0.1'), ca: certificate })

    const exchange = await http.post(`https://hooks.example.com:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'answered', status: 200 })
    expect(names).toEqual(['hooks.example.com', `hooks.example.com:${receiver.port}`])
  })

  test('with a certificate that nobody vouches for is no answer', async () => {
    await using receiver = await secure((_request, response) => response.end())
    await using http = client(local)

    expect(await http.post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({
      outcome: 'unanswered',
      reason: saying('SELF_SIGNED'),
    })
  })

  test('with a certificate for another name is no answer', async () => {
    await using receiver = await secure((_request, response) => response.end())
    await using http = client({ ...local, ...resolvingTo('127.0.0.1'), ca: certificate })

    expect(await http.post(`https://other.example.com:${receiver.port}/`)).toMatchObject({
      outcome: 'unanswered',
      reason: saying('ERR_TLS_CERT_ALTNAME_INVALID'),
    })
  })
})
