import { createRequire } from 'node:module';
import { LockConnectionError } from '../../../core/errors/index.js';

/** The state of a Lua machine. */
export type LuaState = object & { readonly __lua: never };
type JsFunction = (state: LuaState) => number;

/** The part of fengari that is used here. Strings of Lua are bytes. */
interface Fengari {
  readonly lua: {
    readonly LUA_OK: number;
    readonly LUA_REGISTRYINDEX: number;
    readonly LUA_TNIL: number;
    readonly LUA_TBOOLEAN: number;
    readonly LUA_TNUMBER: number;
    readonly LUA_TSTRING: number;
    readonly LUA_TTABLE: number;
    lua_createtable(state: LuaState, items: number, fields: number): void;
    lua_error(state: LuaState): never;
    lua_getfield(state: LuaState, index: number, name: Uint8Array): number;
    lua_gettop(state: LuaState): number;
    lua_next(state: LuaState, index: number): number;
    lua_pcall(state: LuaState, args: number, results: number, handler: number): number;
    lua_pop(state: LuaState, count: number): void;
    lua_pushboolean(state: LuaState, value: boolean): void;
    lua_pushjsfunction(state: LuaState, fn: JsFunction): void;
    lua_pushnil(state: LuaState): void;
    lua_pushnumber(state: LuaState, value: number): void;
    lua_pushstring(state: LuaState, bytes: Uint8Array): void;
    lua_pushvalue(state: LuaState, index: number): void;
    lua_rawequal(state: LuaState, index: number, other: number): boolean;
    lua_rawgeti(state: LuaState, index: number, n: number): number;
    lua_rawlen(state: LuaState, index: number): number;
    lua_rawset(state: LuaState, index: number): void;
    lua_rawseti(state: LuaState, index: number, n: number): void;
    lua_remove(state: LuaState, index: number): void;
    lua_setfield(state: LuaState, index: number, name: Uint8Array): void;
    lua_setglobal(state: LuaState, name: Uint8Array): void;
    lua_setmetatable(state: LuaState, index: number): void;
    lua_settop(state: LuaState, index: number): void;
    lua_toboolean(state: LuaState, index: number): boolean;
    lua_tonumber(state: LuaState, index: number): number;
    lua_tostring(state: LuaState, index: number): Uint8Array;
    lua_type(state: LuaState, index: number): number;
    lua_pushglobaltable(state: LuaState): void;
  };
  readonly lauxlib: {
    luaL_loadbuffer(state: LuaState, code: Uint8Array, length: number, name: Uint8Array): number;
    luaL_newstate(): LuaState;
    luaL_ref(state: LuaState, table: number): number;
    luaL_where(state: LuaState, level: number): void;
  };
  readonly lualib: { luaL_openlibs(state: LuaState): void };
}

/**
 * Fengari is Lua 5.3, and Redis has 5.1, where every number is a double: with this, one that is whole is written without `.0`.
 * It is read when fengari is loaded.
 */
function load(): Fengari {
  const before = process.env.FENGARICONF;
  process.env.FENGARICONF = JSON.stringify({ LUA_COMPAT_FLOATSTRING: true });
  try {
    return createRequire(import.meta.url)('fengari') as Fengari;
  } catch (cause) {
    throw new LockConnectionError(
      'The simulated Redis needs the package `fengari`, which could not be loaded. Run `npm install --save-dev fengari`.',
      { cause },
    );
  } finally {
    if (before === undefined) delete process.env.FENGARICONF;
    else process.env.FENGARICONF = before;
  }
}

export const { lua, lauxlib, lualib } = load();

/** The bytes of a text of which each character is one. */
export function luaString(bytes: string): Uint8Array {
  const array = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) array[i] = bytes.charCodeAt(i);
  return array;
}

/** The text at that place of the stack, which is a string or a number. */
export function textAt(state: LuaState, index: number): string {
  const { buffer, byteOffset, length } = lua.lua_tostring(state, index);
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

const state = lauxlib.luaL_newstate();
lua.lua_pushnumber(state, 1);
if (textAt(state, -1) !== '1')
  throw new LockConnectionError(
    'The package `fengari` was loaded by something else before, without `LUA_COMPAT_FLOATSTRING`. Make a client on a simulated Redis first, or set FENGARICONF to \'{"LUA_COMPAT_FLOATSTRING":true}\'.',
  );
